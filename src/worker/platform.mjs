import { waitUntil } from "cloudflare:workers";

// The platform's messages, taken apart and put together where that costs least: each of these is one step out of Wasm, where
// the platform's own interfaces would take one for every header and two for every body.

// The headers that have one of the names, as lines of the name's index and the value.
export function lines(headers, names) {
  let text = "";
  for (let index = 0; index < names.length; index++) {
    const value = headers.get(names[index]);
    if (value !== null) text += `${index}:${value}\n`;
  }
  return text;
}

// Headers given to the constructor would cost eight times as much.
export function respond(status, lines, body) {
  const response = new Response(body, { status });
  for (const line of lines.split("\n")) {
    const at = line.indexOf(":");
    if (at > 0) response.headers.append(line.slice(0, at), line.slice(at + 1));
  }
  return response;
}

// Asks a Durable Object over RPC: the bytes of its answer, or a word that says why there is none. A stub that has failed once
// keeps failing, so every question takes a fresh one. The question lies in Wasm's memory, all of which would be sent with it.
export const ask = (namespace, name, question, requestId) =>
  namespace.getByName(name).ask(question?.slice(), requestId);

// Outside of a request there is nothing to keep alive, and the work is done all the same.
export function later(work) {
  const life = globalThis.__worker_init_state;
  const { instanceId } = life;
  // Not before the step is over that makes this work.
  const done = Promise.resolve().then(() => life.finish(work, instanceId));
  try {
    waitUntil(done);
  } catch {}
}

export const pause = (milliseconds) => scheduler.wait(milliseconds);

// Runs a statement: how many columns a row has, the rows read, the rows written, then the values of one row after the other.
export function query(storage, statement, params) {
  const cursor = storage.sql.exec(statement, ...params);
  const answer = [0, 0, 0];
  for (const row of cursor.raw()) {
    answer[0] = row.length;
    for (const value of row) answer.push(value instanceof ArrayBuffer ? new Uint8Array(value) : value);
  }
  answer[1] = cursor.rowsRead;
  answer[2] = cursor.rowsWritten;
  return answer;
}

// Makes the alarm ring at `time`, or never. While one rings, none is set.
export async function keepAlarm(storage, time) {
  const set = await storage.getAlarm();
  if (time === undefined) {
    if (set !== null) await storage.deleteAlarm();
  } else if (time !== set) await storage.setAlarm(time);
}

// Makes an alarm ring at `time`, if none is set.
export async function beginAlarm(storage, time) {
  if ((await storage.getAlarm()) === null) await storage.setAlarm(time);
}
