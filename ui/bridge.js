// Speaks JSON-RPC 2.0 with the host through postMessage. Knows nothing about thoughts.

// Captured once: some hosts wrap `window.parent`, and what sends messages must be compared with what was wrapped.
const host = window.parent;
const waiting = new Map();
let lastId = 0;

// Nothing secret is ever sent but inside `tools/call`, and a view cannot know its host's origin: "*" is right here.
function post(message) {
  host.postMessage({ jsonrpc: "2.0", ...message }, "*");
}

export function notify(method, params = {}) {
  post({ method, params });
}

// Resolves with the host's result. Rejects with an Error whose `refused` tells an error answer from no answer.
export function request(method, params, milliseconds) {
  const id = ++lastId;
  return new Promise((resolve, reject) => {
    const settle = (answer) => {
      clearTimeout(timer);
      waiting.delete(id);
      if ("result" in answer) {
        resolve(answer.result);
      } else {
        reject(Object.assign(new Error(answer.error?.message), { refused: true }));
      }
    };
    const timer = setTimeout(() => {
      // A late answer finds no entry and is dropped.
      waiting.delete(id);
      if (method !== "ui/initialize") {
        notify("notifications/cancelled", { requestId: id, reason: "timeout" });
      }
      reject(new Error("no answer"));
    }, milliseconds);
    waiting.set(id, settle);
    post({ id, method, params });
  });
}

// `handlers` maps a notification's method to a function of its params. Must be called before anything is sent.
export function listen(handlers) {
  // A function through addEventListener: hosts that patch listeners know no other form.
  window.addEventListener("message", (event) => {
    const message = event.data;
    if (event.source !== host || host === window || message?.jsonrpc !== "2.0") {
      return;
    }
    const { id, method } = message;
    if (typeof method === "string") {
      const handler = Object.hasOwn(handlers, method) ? handlers[method] : undefined;
      if (id === undefined) {
        handler?.(message.params ?? {});
      } else if (method === "ping" || method === "ui/resource-teardown") {
        post({ id, result: {} });
        handler?.();
      } else {
        post({ id, error: { code: -32601, message: "Method not found" } });
      }
    } else if ("result" in message || "error" in message) {
      waiting.get(id)?.(message);
    }
  });
}
