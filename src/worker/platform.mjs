// The platform's messages, taken apart and put together where that costs least: each of these is one step out of Wasm, where
// the platform's own interfaces would take one for every header and two for every body.

// Headers as lines of a name and a value.
export function lines(headers) {
  let text = "";
  for (const [name, value] of headers) text += `${name}:${value}\n`;
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

// Asks a Durable Object over RPC: the bytes of its answer, or a word that says why there is none. The question lies in Wasm's
// memory, all of which would be sent with it.
export async function ask(stub, question, requestId) {
  const life = globalThis.__worker_init_state;
  const { instanceId } = life;
  try {
    return await stub.ask(question?.slice(), requestId);
  } catch (error) {
    // The object may share this instance of Wasm. When it has ended that, nothing goes on here, and `entry.mjs` answers.
    if (life.criticalError || life.instanceId !== instanceId) await new Promise(() => {});
    throw error;
  }
}
