// The platform's messages, taken apart and put together where that costs least: each of these is one step out of Wasm, where
// the platform's own interfaces would take one for every header and two for every body.

// Headers as lines of a name and a value.
export function lines(headers) {
  let text = "";
  for (const [name, value] of headers) text += `${name}:${value}\n`;
  return text;
}

export function respond(status, lines, body) {
  const headers = [];
  for (const line of lines.split("\n")) {
    const at = line.indexOf(":");
    if (at > 0) headers.push([line.slice(0, at), line.slice(at + 1)]);
  }
  return new Response(body, { status, headers });
}

// Asks a Durable Object: the bytes of its answer, or the status of what is none. Without a body it is a GET.
export async function ask(stub, url, body, requestId) {
  const method = body ? "POST" : "GET";
  const request = new Request(url, { method, body, headers: { "X-Request-Id": requestId } });
  const response = await stub.fetch(request);
  return response.status === 200 ? new Uint8Array(await response.arrayBuffer()) : response.status;
}
