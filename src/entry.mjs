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

async function run(call) {
  if (life.criticalError) {
    wasm.__wbg_reset_state();
    life.criticalError = false;
  }
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

// A response that Wasm makes while it is sent. It is pulled from here, so that it ends when Wasm does, and so that a
// client that has left stops the work. While a pull of events takes long, an empty comment keeps the connection open.
const HEARTBEAT = new TextEncoder().encode(":\n\n");
const HEARTBEAT_MILLISECONDS = 15_000;

function stream(response) {
  const chunks = response.chunks;
  const beats = response.headers.get("Content-Type")?.startsWith("text/event-stream");
  let isPulling = false;
  let hasLeft = false;
  const body = new ReadableStream({
    async pull(controller) {
      const beat =
        beats && setInterval(() => hasLeft || controller.enqueue(HEARTBEAT), HEARTBEAT_MILLISECONDS);
      isPulling = true;
      try {
        const chunk = await run(() => chunks.next());
        if (hasLeft) return;
        if (chunk === undefined) controller.close();
        else controller.enqueue(chunk);
      } finally {
        clearInterval(beat);
        isPulling = false;
        if (hasLeft) chunks.free();
      }
    },
    // Wasm does not let go of what is still at work, so a pull under way is ended and lets go of it then.
    cancel() {
      hasLeft = true;
      if (isPulling) chunks.leave();
      else chunks.free();
    },
  });
  return new Response(body, response);
}

export default class extends WorkerEntrypoint {
  async fetch(request) {
    try {
      const response = await run(() => wasm.fetch(request, this.env, this.ctx));
      return response.chunks ? stream(response) : response;
    } catch {
      return Response.json({ error: "internal_error" }, { status: 500 });
    }
  }
}

// A class of the platform for a class of the Wasm build. The inner object is made again for every new instance.
function objectClass(name) {
  return class extends DurableObject {
    #inner;
    #instance;

    #object() {
      if (this.#instance !== life.instanceId) {
        this.#inner = new wasm[name](this.ctx, this.env);
        this.#instance = life.instanceId;
      }
      return this.#inner;
    }

    fetch(request) {
      return run(() => this.#object().fetch(request));
    }

    alarm() {
      return run(() => this.#object().alarm());
    }
  };
}

export const ThoughtStore = objectClass("ThoughtStore");
export const AuthVault = objectClass("AuthVault");
