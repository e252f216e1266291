// Stands in place of the Worker's glue with a clock that a request can set, for itself or, with `x-shift-stays`, for all
// that come without a word about it. Alarms see the true time.
import * as glue from "./glue.js";
export * from "./glue.js";

let shift = 0;
let lasting = 0;
const now = Date.now;
globalThis.Date = class extends Date {
  constructor(...parts) {
    super(...(parts.length ? parts : [now() + shift]));
  }

  static now() {
    return now() + shift;
  }
};

export function fetch(request, body, env) {
  shift = Number(request.headers.get("x-shift-milliseconds") ?? lasting);
  if (request.headers.has("x-shift-stays")) lasting = shift;
  return glue.fetch(request, body, env);
}

const onTime = (Class) => class extends Class {
  alarm() {
    shift = 0;
    return super.alarm();
  }
};

export const ThoughtStore = onTime(glue.ThoughtStore);
export const AuthVault = onTime(glue.AuthVault);
