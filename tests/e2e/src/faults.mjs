// Stands in place of the Worker's glue and breaks what the platform gives it, when a request asks for it:
// `x-fault: PLACE FAULT [TIMES]`. The shipped build is untouched: Wasm meets the fault where it meets the platform.
//
// `x-probe` is answered here with the bytes of Wasm's memory, how often the fault is still to come, and what the store's
// alarm was set to.
import { memoryBytes } from "./memory.js";
import * as glue from "./shifted.mjs";
export * from "./shifted.mjs";

// The entry waits for a body for a time that no test has: after a request with `x-hurry`, for a hundredth of it.
const BODY_MILLISECONDS = 30_000;
let hurry = 1;
const { setTimeout } = globalThis;
globalThis.setTimeout = (run, time) => setTimeout(run, time === BODY_MILLISECONDS ? time / hurry : time);

// Worker and objects share this isolate, so what one request asks for can wait here for its turn.
let plan = { left: 0 };

function due(place) {
  if (plan.place !== place || plan.left <= 0) return undefined;
  plan.left -= 1;
  return plan.fault;
}

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

const error = (message, marks) => Object.assign(new Error(message), marks);

// In the middle of Wasm's work.
const IN_WASM = {
  // The body is longer than any allocation of Rust's may be: a panic, which ends in Wasm's `unreachable`.
  panic() {
    once(Object.getPrototypeOf(Uint8Array.prototype), "length", () => 2 ** 31);
  },
  // The clock throws: an exception that Wasm does not catch, through its frames.
  exception() {
    once(Date, "now", () => {
      throw error("a fault of the test");
    });
  },
};

// On the way between the Worker and an object.
const ON_THE_WAY = {
  // It never arrives, as when the object is being moved.
  async "lost-before"() {
    throw error("Network connection lost.", { retryable: true });
  },
  // It is done and stored, and the answer never comes.
  async "lost-after"(ask) {
    await ask();
    throw error("Network connection lost.", { retryable: true });
  },
  // In the middle of a deploy: the object runs another version of the program.
  async "other-version"(ask, question) {
    const other = question.slice();
    other[0] += 1;
    return ask(other);
  },
  async overloaded() {
    throw error("Durable Object is overloaded. Too many requests queued.", { overloaded: true, retryable: true });
  },
  async down() {
    throw error("internal error; reference = none");
  },
  async slow(ask) {
    await scheduler.wait(400);
    return ask();
  },
};

function stub(place, real) {
  let broken;
  return {
    // A stub that has failed once keeps failing.
    async ask(question, requestId) {
      if (broken) throw broken;
      const fault = due(place);
      const ask = (sent = question) => real.ask(sent, requestId);
      try {
        return await (fault ? ON_THE_WAY[fault](ask, question) : ask());
      } catch (met) {
        broken = met;
        throw met;
      }
    },
  };
}

const objects = (place, namespace) =>
  new Proxy(namespace, {
    get: (target, name) =>
      name === "getByName" ? (object) => stub(place, target.getByName(object)) : target[name],
  });

const cache = (store) =>
  new Proxy(store, {
    get: (target, name) =>
      typeof target[name] === "function"
        ? async (...rest) => {
            if (due("cache")) throw error("KV request failed: 500");
            return target[name](...rest);
          }
        : target[name],
  });

let broken;
const breakable = (env) => ({
  ...env,
  THOUGHT_STORE: objects("store-stub", env.THOUGHT_STORE),
  AUTH_VAULT: objects("vault-stub", env.AUTH_VAULT),
  OAUTH_KV: cache(env.OAUTH_KV),
});

// What the entry drives like work of Wasm.
const answered = (response) => ({ step: () => response, free() {} });

export function fetch(request, body, env) {
  if (request.headers.has("x-hurry")) hurry = 100;
  if (request.headers.has("x-probe")) {
    console.log("mark out");
    console.error("mark err");
    return answered(Response.json({ memoryBytes: memoryBytes(), left: plan.left, alarms }));
  }
  const asked = request.headers.get("x-fault")?.split(" ");
  if (asked) plan = { place: asked[0], fault: asked[1], left: Number(asked[2] ?? 1) };
  const fault = due("worker");
  if (fault) IN_WASM[fault]();
  broken ??= breakable(env);
  return glue.fetch(request, body, broken);
}

// In the object's database: what `exec` throws, and for which statements.
const IN_SQL = {
  full: (sql) => /^\s*insert/i.test(sql) && "database or disk is full: SQLITE_FULL",
  superseded: () => "Durable Object reset because its code was updated.",
};

function withSql(storage, fault, work) {
  const prototype = Object.getPrototypeOf(storage.sql);
  const before = Object.getOwnPropertyDescriptor(prototype, "exec");
  const value = function (sql, ...params) {
    const message = IN_SQL[fault](sql);
    if (message) throw error(message);
    return before.value.call(this, sql, ...params);
  };
  Object.defineProperty(prototype, "exec", { ...before, value });
  try {
    return work();
  } finally {
    Object.defineProperty(prototype, "exec", before);
  }
}

// Every time that the store's alarm was set to, and `null` for each time that it was deleted.
const alarms = [];

function watchAlarm(storage) {
  const prototype = Object.getPrototypeOf(storage);
  for (const [name, time] of [["setAlarm", (at) => Number(at)], ["deleteAlarm", () => null]]) {
    const before = prototype[name];
    prototype[name] = function (...rest) {
      alarms.push(time(...rest));
      return before.apply(this, rest);
    };
  }
}

let isWatched = false;

export class ThoughtStore extends glue.ThoughtStore {
  #state;

  constructor(state, env) {
    super(state, env);
    this.#state = state;
    if (!isWatched) watchAlarm(state.storage);
    isWatched = true;
  }

  ask(question, requestId) {
    const ask = () => super.ask(question, requestId);
    const fault = due("object");
    if (fault in IN_SQL) return withSql(this.#state.storage, fault, ask);
    if (fault === "abort") this.#state.abort("the object is reset");
    if (fault === "abort-after") {
      ask();
      return this.#state.storage.sync().then(() => this.#state.abort("the object is reset"));
    }
    if (fault) IN_WASM[fault]();
    return ask();
  }

  alarm() {
    const fault = due("alarm");
    if (fault) IN_WASM[fault]();
    return super.alarm();
  }
}
