import { waitUntil } from "cloudflare:workers";

// The platform's messages, taken apart and put together where that costs least: each of these is one step out of Wasm, where
// the platform's own interfaces would take one for every header and two for every body.

// Method, address and the headers that have one of the names, as lines; those of headers with the name's index before it.
export const head = ({ method, url, headers }, names) => `${method}\n${url}\n${lines(headers, names)}`;

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
  const response = status === 200 ? new Response(body) : new Response(body, { status });
  const { headers } = response;
  for (const line of lines.split("\n")) {
    const at = line.indexOf(":");
    if (at > 0) headers.append(line.slice(0, at), line.slice(at + 1));
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

// Values of a statement, as `database/packed.rs` describes them.
const NUMBER = 0;
const BLOB = 1;
const TEXT = 2;
const NULL = 3;
// A text is taken as it is: the mark that may stand before one is a part of it.
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
const encoder = new TextEncoder();

function unpack(params, bytes) {
  const values = [];
  let end = 0;
  for (let index = 0; index < params.length; index += 2) {
    const kind = params[index];
    const value = params[index + 1];
    if (kind === NUMBER) values.push(value);
    else if (kind === NULL) values.push(null);
    else {
      const part = bytes.subarray(end, (end += value));
      values.push(kind === BLOB ? part : decoder.decode(part));
    }
  }
  return values;
}

function pack(rows, columns, values) {
  const numbers = [rows, columns];
  const parts = [];
  for (const value of values) {
    if (typeof value === "number") numbers.push(NUMBER, value);
    else if (value === null) numbers.push(NULL, 0);
    else {
      const isText = typeof value === "string";
      const part = isText ? encoder.encode(value) : new Uint8Array(value);
      numbers.push(isText ? TEXT : BLOB, part.length);
      parts.push(part);
    }
  }
  let end = 8 * numbers.length;
  const answer = new Uint8Array(parts.reduce((size, part) => size + part.length, end));
  new Float64Array(answer.buffer, 0, numbers.length).set(numbers);
  for (const part of parts) {
    answer.set(part, end);
    end += part.length;
  }
  return answer;
}

let rowsRead = 0;
let rowsWritten = 0;

function count(cursor) {
  rowsRead += cursor.rowsRead;
  rowsWritten += cursor.rowsWritten;
}

// Runs a statement and returns its rows.
export function query(storage, statement, params, bytes) {
  const cursor = storage.sql.exec(statement, ...unpack(params, bytes));
  const values = [];
  let rows = 0;
  for (const row of cursor.raw()) {
    rows += 1;
    values.push(...row);
  }
  count(cursor);
  return pack(rows, rows && values.length / rows, values);
}

// Runs a statement that has no rows.
export function execute(storage, statement, params, bytes) {
  count(storage.sql.exec(statement, ...unpack(params, bytes)));
}

// The rows that all statements have read and written.
export const cost = () => Float64Array.of(rowsRead, rowsWritten);

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
