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

export default class extends WorkerEntrypoint {
  async fetch(request) {
    try {
      return await run(() => wasm.fetch(request, this.env, this.ctx));
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
