// An application that connects: it registers, sends a browser off, and takes the answer at an address of its own.

import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { createServer } from "node:http";

export async function serveApp(server) {
  const waiting = new Map();
  const app = { answers: [], onward: undefined, secrets: [] };
  const http = createServer((request, response) => {
    const url = new URL(request.url, "http://app");
    if (url.pathname !== "/callback") {
      return response.writeHead(200, { "content-type": "text/html" }).end("<!doctype html><title>App</title><p>App");
    }
    const answer = Object.fromEntries(url.searchParams);
    app.answers.push(answer);
    app.secrets.push(...url.searchParams.values());
    waiting.get(answer.state)?.(answer);
    if (app.onward) return response.writeHead(307, { location: app.onward }).end();
    response.writeHead(200, { "content-type": "text/html" }).end(
      "<!doctype html><title>Connected</title><h1>Connected</h1><script>opener?.postMessage('done','*')</script>");
  });
  await new Promise((resolve) => http.listen(0, "127.0.0.1", resolve));
  app.origin = `http://127.0.0.1:${http.address().port}`;
  app.close = () => http.close();

  app.register = async (redirect = `${app.origin}/callback`) => {
    const reply = await fetch(`${server}/register`, {
      method: "POST", headers: { "content-type": "application/json" },
      body: JSON.stringify({ client_name: "Reading Room", redirect_uris: [redirect], token_endpoint_auth_method: "none" }),
    });
    assert.equal(reply.status, 201);
    return { id: (await reply.json()).client_id, redirect };
  };

  // One sign-in: the link for the browser, and what came of it.
  app.begin = (client, resource = `${server}/mcp-compat`) => {
    const verifier = randomBytes(32).toString("base64url");
    const state = randomBytes(8).toString("hex");
    app.secrets.push(verifier, state);
    const query = new URLSearchParams({
      response_type: "code", client_id: client.id, redirect_uri: client.redirect, state, scope: "mcp", resource,
      code_challenge: createHash("sha256").update(verifier).digest("base64url"), code_challenge_method: "S256",
    });
    const answer = new Promise((resolve) => waiting.set(state, resolve));
    return { link: `${server}/authorize?${query}`, answer, state, verifier, client };
  };

  app.redeem = async (flow, code) => {
    const reply = await fetch(`${server}/token`, {
      method: "POST",
      body: new URLSearchParams({
        grant_type: "authorization_code", code, client_id: flow.client.id, redirect_uri: flow.client.redirect, code_verifier: flow.verifier,
      }),
    });
    const tokens = await reply.json();
    app.secrets.push(tokens.access_token, tokens.refresh_token);
    return { status: reply.status, ...tokens };
  };

  app.think = async (token) => {
    const reply = await fetch(`${server}/mcp-compat`, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json, text/event-stream", authorization: `Bearer ${token}` },
      body: JSON.stringify({
        jsonrpc: "2.0", id: 1, method: "tools/call",
        params: { name: "sequentialthinking", arguments: { thought: "Signed in.", thoughtNumber: 1, totalThoughts: 1, nextThoughtNeeded: false } },
      }),
    });
    return { status: reply.status, body: await reply.text() };
  };
  return app;
}
