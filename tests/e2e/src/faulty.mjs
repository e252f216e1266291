// Stands in place of the Worker's glue and breaks what the platform gives it, once, when a request asks for it.
// The shipped build is untouched: Wasm meets the fault where it meets the platform.
import * as glue from "./glue.js";
export * from "./glue.js";

// Makes one property answer once through `get`, then puts back what was there.
function once(object, name, get) {
  const before = Object.getOwnPropertyDescriptor(object, name);
  const broken = () => {
    Object.defineProperty(object, name, before);
    return get();
  };
  const value = before.get ? { get: broken } : { value: broken };
  Object.defineProperty(object, name, { ...value, configurable: true });
}

const FAULTS = {
  // The body is longer than any allocation of Rust's may be: a panic, which ends in Wasm's `unreachable`.
  panic(request) {
    const read = request.arrayBuffer.bind(request);
    request.arrayBuffer = async () => {
      const body = await read();
      once(Object.getPrototypeOf(Uint8Array.prototype), "length", () => 2 ** 31);
      return body;
    };
  },
  // The clock throws: an exception that Wasm does not catch, through its frames.
  exception() {
    once(Date, "now", () => {
      throw new Error("a fault of the test");
    });
  },
};

// Worker and object share this isolate, so what one request asks for can wait here for the object's turn.
let waiting;

export function fetch(request, env, context) {
  const [place, fault] = request.headers.get("x-fault")?.split(" ") ?? [];
  if (place === "worker") FAULTS[fault](request);
  if (place === "object") waiting = fault;
  return glue.fetch(request, env, context);
}

export class ThoughtStore extends glue.ThoughtStore {
  fetch(request) {
    const fault = waiting;
    waiting = undefined;
    if (fault) FAULTS[fault](request);
    return super.fetch(request);
  }
}
