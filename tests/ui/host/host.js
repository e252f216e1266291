// The page of a host: mounts cards through the SDK's own AppBridge, logs every message, and does what a scene tells it.
// A scene drives it through `window.host`.

import { Client } from "@modelcontextprotocol/client";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { AppBridge, PostMessageTransport } from "@modelcontextprotocol/ext-apps/app-bridge";

const UI = { extensions: { "io.modelcontextprotocol/ui": { mimeTypes: ["text/html;profile=mcp-app"] } } };
const cards = [];
const sandboxOrigin = new URLSearchParams(location.search).get("sandbox");

// Keeps the SDK's transport, and writes down what passes.
function record(transport, log) {
  const started = performance.now();
  // What the proxy says of itself is no word of the card.
  const note = (from, message) => /sandbox/.test(message.method) || log.push({ at: Math.round(performance.now() - started), from, message: structuredClone(message) });
  const send = transport.send.bind(transport);
  transport.send = (message, options) => {
    note("host", message);
    return send(message, options);
  };
  let receive;
  Object.defineProperty(transport, "onmessage", {
    get: () => receive,
    set: (handler) => {
      receive = (message, extra) => {
        note("card", message);
        handler(message, extra);
      };
    },
  });
  return transport;
}

async function mount({ html, context = {}, capabilities = {}, permissions, trustedTypes, width = 720, height = 60, history, silent = [] }) {
  const card = { log: [], heights: [], calls: [], downloads: [], history, mode: context.displayMode ?? "inline" };
  const frame = document.createElement("iframe");
  frame.style.cssText = `display:block;border:0;margin:0 0 12px;width:${width}px;height:${height}px`;
  frame.src = `${sandboxOrigin}/sandbox.html${trustedTypes ? "?tt=1" : ""}`;
  document.body.append(frame);
  const index = cards.push(card) - 1;
  card.frame = frame;
  const bridge = new AppBridge(null, { name: "TestHost", version: "1.0.0" },
    { serverTools: {}, openLinks: {}, logging: {}, ...capabilities }, { hostContext: context });
  card.bridge = bridge;
  bridge.onsizechange = ({ height, width }) => {
    card.heights.push(height);
    card.width = width;
    if (height !== undefined && card.mode === "inline") {
      frame.style.height = `${height}px`;
    }
  };
  bridge.oncalltool = async (params) => {
    card.calls.push(params);
    return window.answerTool ? window.answerTool(index, params) : callServer(params);
  };
  bridge.ondownloadfile = async (params) => {
    card.downloads.push(params);
    return {};
  };
  bridge.onrequestdisplaymode = async ({ mode }) => {
    setMode(index, mode);
    return { mode };
  };
  card.initialized = new Promise((resolve) => { bridge.oninitialized = resolve; });
  bridge.onsandboxready = () => bridge.sendSandboxResourceReady({ html, permissions });
  await bridge.connect(record(new PostMessageTransport(frame.contentWindow, frame.contentWindow), card.log));
  if (!silent.includes("initialize")) {
    await card.initialized;
  }
  return index;
}

function setMode(index, mode) {
  const card = cards[index];
  card.mode = mode;
  card.frame.style.height = mode === "fullscreen" ? "900px" : `${card.heights.at(-1)}px`;
}

// A real client of a real server, one for each era.
let client;
async function connect({ url, era }) {
  client = new Client({ name: "test-host", version: "1.0.0" }, { versionNegotiation: { mode: era }, capabilities: UI });
  await client.connect(new StreamableHTTPClientTransport(new URL(url, location.href)));
  return client.getNegotiatedProtocolVersion?.();
}

function callServer(params) {
  return client.callTool(params);
}

window.host = {
  mount,
  count: () => cards.length,
  clear: () => document.body.replaceChildren(),
  setMode,
  connect,
  callServer,
  async readCard() {
    const { resources } = await client.listResources();
    const { contents } = await client.readResource({ uri: "ui://sequential-thinking/process.html" });
    return { listed: resources, read: contents[0] };
  },
  card: (index) => {
    const { log, heights, width, calls, downloads } = cards[index];
    return { log, heights, width, calls, downloads };
  },
  input: (index, args) => cards[index].bridge.sendToolInput({ arguments: args }),
  partial: (index, args) => cards[index].bridge.sendToolInputPartial({ arguments: args }),
  result: (index, result) => cards[index].bridge.sendToolResult(result),
  cancel: (index, reason) => cards[index].bridge.sendToolCancelled({ reason }),
  context: (index, context) => cards[index].bridge.sendHostContextChange(context),
  teardown: (index) => cards[index].bridge.teardownResource({}),
  // What no bridge would send: forged, malformed or untimely messages.
  raw: (index, message) => cards[index].frame.contentWindow.postMessage(message, "*"),
  async ping(index) {
    const id = `ping-${Math.random()}`;
    const answer = new Promise((resolve) => {
      window.addEventListener("message", function listen({ data }) {
        if (data?.id === id) {
          window.removeEventListener("message", listen);
          resolve(data);
        }
      });
    });
    cards[index].frame.contentWindow.postMessage({ jsonrpc: "2.0", id, method: "ping" }, "*");
    return answer;
  },
};
