// The Worker's entry around its Wasm build.
//
// It owns two things that Wasm cannot. Durable Object classes must extend the platform's class. And when Wasm traps, all that
// it was at is over: whoever took the step that trapped learns it from the exception, all others when they come back for the
// next step, and the next call gets a fresh instance. All calls of an isolate share one instance, so all of them end with it.
import { DurableObject, env as environment } from "cloudflare:workers";
import * as wasm from "../build/index.js";

// Shared with the `worker` crate, which sets `criticalError` when Rust panics and counts the instances.
const life = wasm.__worker_init_state();
// For what goes on after its response was sent.
life.finish = (work, instanceId) => drive(work, instanceId).catch(() => tell(environment, "worker"));

function revive() {
  if (!life.criticalError) return;
  wasm.__wbg_reset_state();
  life.criticalError = false;
}

const isOver = (instanceId) => life.criticalError || life.instanceId !== instanceId;

// What belongs to an instance must not be used with the one after it.
function check(instanceId) {
  if (isOver(instanceId)) throw new Error("this instance is over");
}

// Calls into Wasm. It throws nothing on purpose: an exception came in the middle of its work, and what it left behind cannot
// be trusted.
function enter(call) {
  try {
    return call();
  } catch (error) {
    life.criticalError = true;
    throw error;
  }
}

const isPromise = (step) => typeof step?.then === "function";

// Takes work of Wasm to its end. A step returns the promise that the work waits for, or what it came to, be it an error.
async function drive(work, instanceId = life.instanceId, first = begin(work, instanceId)) {
  let step = first;
  while (isPromise(step)) {
    let value;
    let isRejected = false;
    try {
      value = await step;
    } catch (error) {
      value = error;
      isRejected = true;
    }
    check(instanceId);
    if (work.isLeft) return;
    step = enter(() => work.step(value, isRejected));
  }
  return end(work, step);
}

function begin(work, instanceId) {
  check(instanceId);
  return enter(() => work.step());
}

function end(work, step) {
  work.free();
  if (step instanceof Error) throw step;
  return step;
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

const NOTHING = new Uint8Array();

// The bytes; `undefined` when they did not come.
function receive(request) {
  const length = Number(request.headers.get("Content-Length") ?? NaN);
  if (!(length <= BODY_BYTES_MAX) && !request.body) return NOTHING;
  const body = length <= BODY_BYTES_MAX ? request.bytes() : readFrom(request.body.getReader());
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, BODY_MILLISECONDS);
    const end = (bytes) => {
      clearTimeout(timer);
      resolve(bytes);
    };
    body.then(end, () => end());
  });
}

async function readFrom(reader) {
  const body = new Uint8Array(BODY_BYTES_MAX + 1);
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

// A response that Wasm makes while it is sent. It is pulled from here, so that it ends when Wasm does, and so that a
// client that has left stops the work. While a pull of events takes long, an empty comment keeps the connection open.
const HEARTBEAT = new TextEncoder().encode(":\n\n");
const HEARTBEAT_MILLISECONDS = 15_000;

function stream(response, env) {
  const { chunks } = response;
  const { instanceId } = life;
  const beats = response.headers.get("Content-Type")?.startsWith("text/event-stream");
  let work;
  let hasEnded = false;
  const end = () => {
    hasEnded = true;
    if (!isOver(instanceId)) chunks.free();
  };
  const body = new ReadableStream({
    async pull(controller) {
      const beat =
        beats && setInterval(() => hasEnded || controller.enqueue(HEARTBEAT), HEARTBEAT_MILLISECONDS);
      try {
        check(instanceId);
        work = enter(() => chunks.next());
        const chunk = await drive(work);
        if (hasEnded) return;
        if (chunk !== undefined) return controller.enqueue(chunk);
        end();
        controller.close();
      } catch (error) {
        if (!hasEnded) end();
        // What Wasm broke off it has logged itself.
        if (isOver(instanceId)) tell(env, "stream");
        throw error;
      } finally {
        work = undefined;
        clearInterval(beat);
      }
    },
    // The promise that a pull under way waits for may never settle, so it is let go of here.
    cancel() {
      if (work && !isOver(instanceId)) {
        work.isLeft = true;
        work.free();
      }
      end();
    },
  });
  return new Response(body, response);
}

function answer(work, ctx) {
  const step = begin(work, life.instanceId);
  if (!isPromise(step)) return end(work, step);
  const answered = drive(work, life.instanceId, step);
  // Of a request whose client has left, the platform settles nothing any more, and the work would end in the middle.
  ctx.waitUntil(answered.catch(() => {}));
  return answered;
}

export default {
  async fetch(request, env, ctx) {
    const body = await receive(request);
    try {
      revive();
      const answered = answer(enter(() => wasm.fetch(request, body, env)), ctx);
      const response = isPromise(answered) ? await answered : answered;
      return response.chunks ? stream(response, env) : response;
    } catch {
      const requestId = tell(env, "worker");
      const message = `The server failed in the middle of this call. What was acknowledged is stored; repeat the call (request ${requestId})`;
      return Response.json(
        { error: "internal_error", class: "unavailable", retry: "later", message },
        { status: 500, headers: { "Cache-Control": "no-store", "X-Request-Id": requestId } },
      );
    }
  },
};

// A class of the platform for a class of the Wasm build. The inner object is made again for every new instance.
function objectClass(name) {
  return class extends DurableObject {
    #inner;
    #instance;

    #object() {
      revive();
      if (this.#instance !== life.instanceId) {
        this.#inner = enter(() => new wasm[name](this.ctx, this.env));
        this.#instance = life.instanceId;
      }
      return this.#inner;
    }

    // Called over RPC. Wasm answers before it returns: it lets no other call in between, and throws only when it is over.
    async ask(question, requestId) {
      const object = this.#object();
      const answer = enter(() => object.ask(question, requestId));
      if (enter(() => object.is_unsettled())) await drive(enter(() => object.settle(requestId)));
      return answer;
    }

    async alarm() {
      try {
        await drive(enter(() => this.#object().alarm()));
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
