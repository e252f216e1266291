// Real OAuth clients against the Worker in workerd: from a 401 to a stored thought, and on through a token that ended,
// with nothing done by hand but the consent. Started by tests/e2e/tests/it/sign_in.rs, as stories.mjs is.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import * as v2 from "@modelcontextprotocol/client";
import { serveGitHub } from "./github.mjs";

// The other clients' packages stand beside their own tests.
const beside = createRequire(new URL("../clients/package.json", import.meta.url));
const v1 = {
  ...(await import(beside.resolve("@modelcontextprotocol/sdk/client/index.js"))),
  ...(await import(beside.resolve("@modelcontextprotocol/sdk/client/streamableHttp.js"))),
};

const github = await serveGitHub();
github.mode = "passes";
console.log(JSON.stringify({ github: github.url }));
const lines = createInterface({ input: process.stdin });
const server = (await lines[Symbol.asyncIterator]().next()).value.trim();

// A browser as far as the sign-in needs one: cookies, the one form, the interstitial. Returns the client's address.
async function consent(link) {
  const cookies = new Map();
  const visit = async (url, options = {}) => {
    const headers = { ...options.headers, cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join("; ") };
    const reply = await fetch(url, { redirect: "manual", ...options, headers });
    for (const text of reply.headers.getSetCookie()) {
      const [name, value] = text.split(";")[0].split("=");
      cookies.set(name, value);
    }
    return reply;
  };
  const plain = (text) => text.replaceAll("&quot;", '"').replaceAll("&#39;", "'").replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
  const page = await (await visit(link)).text();
  const field = (name) => plain(page.match(new RegExp(`name="${name}" value="([^"]*)"`))[1]);
  const onward = await (await visit(`${server}/authorize`, {
    method: "POST",
    headers: { origin: server, "sec-fetch-site": "same-origin" },
    body: new URLSearchParams({ q: field("q"), csrf: field("csrf"), decision: "approve" }),
  })).text();
  const passed = await visit(plain(onward.match(/content="0;url=([^"]*)"/)[1]));
  const back = await visit(passed.headers.get("location"));
  assert.equal(back.status, 303);
  return new URL(back.headers.get("location"));
}

class Provider {
  redirectUrl = "http://127.0.0.1:53682/callback";
  clientMetadata = {
    client_name: "A real client", redirect_uris: [this.redirectUrl], grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"], token_endpoint_auth_method: "none",
  };
  clientInformation() { return this.information; }
  saveClientInformation(information) { this.information = information; }
  tokens() { return this.kept; }
  saveTokens(tokens) { this.kept = tokens; }
  redirectToAuthorization(url) { this.link = url; }
  saveCodeVerifier(verifier) { this.verifier = verifier; }
  codeVerifier() { return this.verifier; }
  saveDiscoveryState(state) { this.discovery = state; }
  discoveryState() { return this.discovery; }
}

const think = { name: "sequentialthinking", arguments: { thought: "Signed in.", thoughtNumber: 1, totalThoughts: 1, nextThoughtNeeded: false } };

async function play(sdk, path, options, finish) {
  const provider = new Provider();
  const address = new URL(server + path);
  const connect = async () => {
    const client = new sdk.Client({ name: "test", version: "1" }, options);
    const transport = new sdk.StreamableHTTPClientTransport(address, { authProvider: provider });
    try {
      await client.connect(transport);
      return client;
    } catch (error) {
      if (!provider.link) throw error;
      const link = provider.link;
      provider.link = undefined;
      const answer = await consent(link);
      await finish(transport, answer.searchParams);
      return undefined;
    }
  };
  const client = (await connect()) ?? (await connect());
  const first = await client.callTool(think);
  assert.match(JSON.stringify(first), /seq_/);
  // The access token ends; the client refreshes by itself.
  const old = provider.kept;
  await fetch(`${server}/revoke`, {
    method: "POST", body: new URLSearchParams({ token: old.access_token, client_id: provider.information.client_id }),
  });
  const second = await client.callTool(think);
  assert.match(JSON.stringify(second), /seq_/);
  assert.notEqual(provider.kept.access_token, old.access_token);
  assert.notEqual(provider.kept.refresh_token, old.refresh_token);
  assert.equal(provider.link, undefined, "nobody was asked again");
  await client.close();
}

// The suite's own client for authorization servers: it prints a link, waits for the answer, and judges every step.
async function conformance() {
  const port = 53683;
  const reply = await fetch(`${server}/register`, {
    method: "POST", headers: { "content-type": "application/json" },
    body: JSON.stringify({ redirect_uris: [`http://127.0.0.1:${port}/callback`], token_endpoint_auth_method: "none" }),
  });
  const { client_id } = await reply.json();
  const program = beside.resolve("@modelcontextprotocol/conformance/package.json").replace("package.json", "dist/index.js");
  const child = spawn(process.execPath, [program, "authorization", "--url", server, "--client-id", client_id,
    "--port", String(port), "--resource", `${server}/mcp-compat`], { stdio: ["ignore", "pipe", "inherit"] });
  const ended = new Promise((resolve) => child.on("exit", resolve));
  let told = "";
  for await (const line of createInterface({ input: child.stdout })) {
    told += `${line}\n`;
    if (line.startsWith(`${server}/authorize?`)) await fetch(await consent(line.trim()));
  }
  assert.equal(await ended, 0, told);
  assert.match(told, /passed/i, told);
  assert.doesNotMatch(told, /[1-9]\d* (failed|warnings?)/i, told);
}

const whole = (transport, parameters) => transport.finishAuth(parameters);
const bare = (transport, parameters) => transport.finishAuth(parameters.get("code"));
const clients = {
  "SDK v1 on /mcp-compat": () => play(v1, "/mcp-compat", {}, bare),
  "SDK v2 on /mcp-compat": () => play(v2, "/mcp-compat", {}, whole),
  "SDK v2 on /mcp": () => play(v2, "/mcp", { versionNegotiation: { mode: "auto" } }, whole),
  "the conformance suite's authorization scenarios": conformance,
};
let failed = 0;
for (const [name, run] of Object.entries(clients)) {
  try {
    await run();
    console.log(`ok ${name}`);
  } catch (error) {
    failed += 1;
    console.log(`FAILED ${name}: ${error.stack}`);
  }
}
github.close();
process.exit(failed ? 1 : 0);
