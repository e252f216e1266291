// The Worker's entry around its Wasm build.
//
// It owns two things that Wasm cannot. Durable Object classes must extend the platform's class. And when Wasm traps,
// the promises that it handed out never settle: every call in flight is answered here, and the next call gets a
// fresh instance. All calls of an isolate share one instance, so all of them end with it.
import { DurableObject, WorkerEntrypoint } from "cloudflare:workers";
import * as wasm from "../build/index.js";

// Shared with the `worker` crate, which sets `criticalError` when Rust panics and counts the instances.
const life = wasm.__worker_init_state();
const inFlight = new Set();

function fail(error) {
  life.criticalError = true;
  for (const reject of inFlight) reject(error);
  inFlight.clear();
}

// An exception that nobody caught came out of Wasm, in the middle of its work: what it left behind cannot be trusted.
addEventListener("error", (event) => fail(event.error ?? new Error("the Worker failed")));

function revive() {
  if (!life.criticalError) return;
  wasm.__wbg_reset_state();
  life.criticalError = false;
}

async function run(call) {
  revive();
  const { promise, reject } = Promise.withResolvers();
  inFlight.add(reject);
  try {
    return await Promise.race([call(), promise]);
  } catch (error) {
    if (error instanceof WebAssembly.RuntimeError) fail(error);
    throw error;
  } finally {
    inFlight.delete(reject);
  }
}

// One line of the log, of the form of `log.rs`, for what Wasm can no longer tell. What was thrown is left out: its text may
// hold anything. Returns the id that the caller gets too.
function tell(env, stage) {
  const bytes = crypto.getRandomValues(new Uint8Array(8));
  const requestId = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  if (env.LOG_LEVEL?.trim() !== "off") {
    console.error(JSON.stringify({ kind: "error", requestId, stage, reason: "failed" }));
  }
  return requestId;
}

// A request's body is awaited here, where a client that leaves is forgotten with all that waits for it. It is read as far as
// the router needs to see that it is too large (the same figure stands in `transport.rs`), and waited for no longer than this.
const BODY_BYTES_MAX = 256 * 1024;
const BODY_MILLISECONDS = 30_000;

async function read(request) {
  const length = Number(request.headers.get("Content-Length") ?? Infinity);
  if (length <= BODY_BYTES_MAX) return new Uint8Array(await request.arrayBuffer());
  const body = new Uint8Array(BODY_BYTES_MAX + 1);
  const reader = request.body.getReader();
  let size = 0;
  while (size < body.length) {
    const { done, value } = await reader.read();
    if (done) return body.subarray(0, size);
    const part = value.subarray(0, body.length - size);
    body.set(part, size);
    size += part.length;
  }
  // The rest is refused, not read.
  reader.cancel().catch(() => {});
  return body;
}

// The bytes; `undefined` when they did not come.
async function receive(request) {
  if (!request.body) return new Uint8Array();
  let timer;
  const late = new Promise((resolve) => (timer = setTimeout(resolve, BODY_MILLISECONDS)));
  const body = await Promise.race([read(request).catch(() => {}), late]);
  clearTimeout(timer);
  return body;
}

// A response that Wasm makes while it is sent. It is pulled from here, so that it ends when Wasm does, and so that a
// client that has left stops the work. While a pull of events takes long, an empty comment keeps the connection open.
const HEARTBEAT = new TextEncoder().encode(":\n\n");
const HEARTBEAT_MILLISECONDS = 15_000;

function stream(response, env) {
  const chunks = response.chunks;
  const beats = response.headers.get("Content-Type")?.startsWith("text/event-stream");
  let isPulling = false;
  let isOver = false;
  const body = new ReadableStream({
    async pull(controller) {
      const beat =
        beats && setInterval(() => isOver || controller.enqueue(HEARTBEAT), HEARTBEAT_MILLISECONDS);
      isPulling = true;
      try {
        const chunk = await run(() => chunks.next());
        if (isOver) return;
        isOver = chunk === undefined;
        if (isOver) controller.close();
        else controller.enqueue(chunk);
      } catch (error) {
        isOver = true;
        // What Wasm broke off it has logged itself.
        if (life.criticalError) tell(env, "stream");
        throw error;
      } finally {
        clearInterval(beat);
        isPulling = false;
        if (isOver && !life.criticalError) chunks.free();
      }
    },
    // Wasm does not let go of what is still at work, so a pull under way is ended and lets go of it then.
    cancel() {
      isOver = true;
      if (isPulling) chunks.leave();
      else chunks.free();
    },
  });
  return new Response(body, response);
}

export default class extends WorkerEntrypoint {
  async fetch(request) {
    request.received = await receive(request);
    try {
      const work = run(() => wasm.fetch(request, this.env, this.ctx));
      // Of a request whose client has left, the platform settles nothing any more, and Wasm would hold for ever what it was
      // at. So the work goes on to its end.
      this.ctx.waitUntil(work.catch(() => {}));
      const response = await work;
      return response.chunks ? stream(response, this.env) : response;
    } catch {
      const requestId = tell(this.env, "worker");
      const message = `The server failed in the middle of this call. What was acknowledged is stored; repeat the call (request ${requestId})`;
      return Response.json(
        { error: "internal_error", class: "unavailable", retry: "later", message },
        { status: 500, headers: { "Cache-Control": "no-store", "X-Request-Id": requestId } },
      );
    }
  }
}

// A class of the platform for a class of the Wasm build. The inner object is made again for every new instance.
function objectClass(name) {
  return class extends DurableObject {
    #inner;
    #instance;

    #object() {
      revive();
      if (this.#instance !== life.instanceId) {
        this.#inner = new wasm[name](this.ctx, this.env);
        this.#instance = life.instanceId;
      }
      return this.#inner;
    }

    // Called over RPC. Wasm answers before it returns: it lets no other call in between, and throws only when it is over.
    async ask(question, requestId) {
      let object, answer;
      try {
        object = this.#object();
        answer = object.ask(question, requestId);
      } catch (error) {
        fail(error);
        throw error;
      }
      if (object.is_unsettled()) await run(() => object.settle(requestId));
      return answer;
    }

    async alarm() {
      try {
        return await run(() => this.#object().alarm());
      } catch (error) {
        // What Rust returned it has logged itself.
        if (life.criticalError) tell(this.env, "alarm");
        throw error;
      }
    }
  };
}

export const ThoughtStore = objectClass("ThoughtStore");
export const AuthVault = objectClass("AuthVault");
