// Stands in place of the Worker's glue and lets a request steer what comes after it: how many calls reach the object
// before the next ones wait, and whether those go on or fail; whether streams are pulled; and whether Wasm ends in the call that
// comes next. It counts those calls, the pulls, the clients that left, the streams that were let go of, and the instances of Wasm.
// Timers that repeat run 300 times faster, so that the heartbeats of a stream come within a test.
import * as glue from "./glue.js";
export * from "./glue.js";

const every = globalThis.setInterval;
globalThis.setInterval = (work, milliseconds) => every(work, milliseconds / 300);

const state = { calls: 0, waiting: 0, left: 0, freed: 0, pulls: 0 };
let passing = Infinity;
let isFailing = false;
let isStopped = false;

const Stream = globalThis.ReadableStream;
globalThis.ReadableStream = class extends Stream {
  constructor(source) {
    const cancel = () => {
      state.left += 1;
      source.cancel();
    };
    const pull = async (controller) => {
      state.pulls += 1;
      while (isStopped) await scheduler.wait(5);
      return source.pull(controller);
    };
    super({ ...source, pull, cancel });
  }
};

const { free } = glue.ResponseChunks.prototype;
glue.ResponseChunks.prototype.free = function () {
  free.call(this);
  state.freed += 1;
};

const ORDERS = {
  look() {},
  // Lets `count` more calls pass and holds those that follow.
  hold(count) {
    Object.assign(state, { calls: 0, waiting: 0, left: 0, freed: 0, pulls: 0 });
    [passing, isFailing] = [count, false];
  },
  fail() {
    isFailing = true;
  },
  release() {
    [passing, isFailing, isStopped] = [Infinity, false, false];
  },
  // Lets no stream be pulled.
  stop() {
    isStopped = true;
  },
  // Has the clock throw through the frames of Wasm, once.
  trap() {
    const { now } = Date;
    Date.now = () => {
      Date.now = now;
      throw new Error("a fault of the test");
    };
  },
};

// What the entry drives like work of Wasm.
const answered = (response) => ({ step: () => response, free() {} });

export function fetch(request, body, env) {
  const [order, count] = request.headers.get("x-steer")?.split(" ") ?? [];
  if (!order) return glue.fetch(request, body, env);
  ORDERS[order](Number(count));
  return answered(Response.json({ ...state, instance: glue.__worker_init_state().instanceId }));
}

export class ThoughtStore extends glue.ThoughtStore {
  async ask(question, requestId) {
    state.calls += 1;
    const turn = state.calls;
    state.waiting += 1;
    while (turn > passing && !isFailing) await scheduler.wait(5);
    state.waiting -= 1;
    if (turn > passing) throw new Error("a fault of the test");
    return super.ask(question, requestId);
  }
}
