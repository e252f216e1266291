// Stands in place of the Worker's glue with a clock that a request can set back. Alarms see the true time.
import * as glue from "./glue.js";
export * from "./glue.js";

let shift = 0;
const now = Date.now;
Date.now = () => now() + shift;

export function fetch(request, env, context) {
  shift = Number(request.headers.get("x-shift-milliseconds") ?? 0);
  return glue.fetch(request, env, context);
}

export class ThoughtStore extends glue.ThoughtStore {
  alarm() {
    shift = 0;
    return super.alarm();
  }
}
