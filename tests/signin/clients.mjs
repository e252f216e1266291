// Real OAuth clients against the Worker in workerd: from a 401 to a stored thought, and on through a token that ended,
// with nothing done by hand but the consent. Started by tests/e2e/tests/it/sign_in.rs, as stories.mjs is.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import * as v2 from "@modelcontextprotocol/client";
import { consent } from "./consent.mjs";
import { serveGitHub } from "./github.mjs";

// The other clients' packages stand beside their own tests.
const beside = createRequire(new URL("../clients/package.json", import.meta.url));
const v1 = {
  ...(await import(beside.resolve("@modelcontextprotocol/sdk/client/index.js"))),
  ...(await import(beside.resolve("@modelcontextprotocol/sdk/client/stdio.js"))),
  ...(await import(beside.resolve("@modelcontextprotocol/sdk/client/streamableHttp.js"))),
};
const program = (name, path) => join(dirname(beside.resolve(`${name}/package.json`)), path);

const github = await serveGitHub();
github.mode = "passes";
console.log(JSON.stringify({ github: github.url }));
const lines = createInterface({ input: process.stdin });
const secrets = new Set(["loopback-secret"]);
const keep = (value) => value && secrets.add(value);
const allow = (link) => consent(link, { seen: keep });
const server = (await lines[Symbol.asyncIterator]().next()).value.trim();

// The server's clock goes on, past the end of every access token that it gave out. The clients' clocks stay.
let hours = 0;
async function letTokensExpire() {
  hours += 9;
  await fetch(`${server}/healthz`, { headers: { "x-shift-milliseconds": String(hours * 3_600_000), "x-shift-stays": "yes" } });
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
  saveTokens(tokens) {
    this.kept = tokens;
    [tokens.access_token, tokens.refresh_token].forEach(keep);
  }
  redirectToAuthorization(url) { this.link = url; }
  saveCodeVerifier(verifier) {
    this.verifier = verifier;
    keep(verifier);
  }
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
      const answer = await allow(link);
      await finish(transport, answer.searchParams);
      return undefined;
    }
  };
  const client = (await connect()) ?? (await connect());
  const first = await client.callTool(think);
  assert.match(JSON.stringify(first), /seq_/);
  const old = provider.kept;
  await letTokensExpire();
  const refused = await fetch(address, { method: "POST", headers: { authorization: `Bearer ${old.access_token}` } });
  assert.equal(refused.status, 401);
  assert.match(refused.headers.get("www-authenticate"), /error="invalid_token"/);
  const second = await client.callTool(think);
  assert.match(JSON.stringify(second), /seq_/);
  assert.notEqual(provider.kept.access_token, old.access_token);
  assert.notEqual(provider.kept.refresh_token, old.refresh_token);
  assert.equal(provider.link, undefined, "nobody was asked again");
  await client.close();
}

// A home for a program that keeps what it was given in files, and nothing in reach that could open a browser.
async function away(run) {
  const home = mkdtempSync(join(tmpdir(), "sign-in-"));
  try {
    return await run({ HOME: home, PATH: dirname(process.execPath), MCP_AUTO_OPEN_ENABLED: "true", MCP_INSPECTOR_SECRET_STORE: "file" });
  } finally {
    rmSync(home, { recursive: true });
  }
}

// A port that nobody listens on, for a program that wants to be told one.
const freePort = () => new Promise((resolve) => {
  const probe = createServer().listen(0, "127.0.0.1", () => {
    const { port } = probe.address();
    probe.close(() => resolve(String(port)));
  });
});

// The person's part: the first link of this server in what a program prints is followed, and its answer delivered.
async function answerFrom(stream, told) {
  for await (const line of createInterface({ input: stream })) {
    told.push(line);
    const link = line.match(/https?:\/\/\S+\/authorize\?\S+/)?.[0];
    if (link?.startsWith(server)) await fetch(await allow(link));
  }
}

const asked = (told) => told.filter((line) => line.includes("/authorize?")).length;

// A proxy that gives a client of standard input and output a server that wants a sign-in.
const remote = (path, ...options) => away(async (env) => {
  const transport = new v1.StdioClientTransport({
    command: process.execPath, stderr: "pipe", env,
    args: [program("mcp-remote", "dist/proxy.js"), server + path, await freePort(), "--host", "127.0.0.1", "--transport", "http-only", ...options],
  });
  const told = [];
  answerFrom(transport.stderr, told);
  const client = new v1.Client({ name: "test", version: "1" });
  try {
    await client.connect(transport);
    assert.match(JSON.stringify(await client.callTool(think)), /seq_/);
    assert.equal(asked(told), 1);
    await letTokensExpire();
    assert.match(JSON.stringify(await client.callTool(think)), /seq_/);
    assert.equal(asked(told), 1, "nobody was asked again");
  } catch (error) {
    throw new Error(told.join("\n"), { cause: error });
  } finally {
    await client.close();
  }
});

const inspector = (path, era) => away(async (env) => {
  const call = async () => {
    const child = spawn(process.execPath, [program("@modelcontextprotocol/inspector", "clients/launcher/build/index.js"), "--cli",
      "--server-url", server + path, "--transport", "http", "--protocol-era", era, "--format", "json",
      "--callback-url", `http://127.0.0.1:${await freePort()}/oauth/callback`,
      "--method", "tools/call", "--tool-name", think.name, "--tool-args-json", JSON.stringify(think.arguments),
    ], { env, stdio: ["ignore", "pipe", "pipe"] });
    const told = [];
    const ended = new Promise((resolve) => child.on("exit", resolve));
    let printed = "";
    child.stdout.on("data", (text) => (printed += text));
    await answerFrom(child.stderr, told);
    assert.equal(await ended, 0, told.join("\n"));
    assert.match(printed, /seq_/);
    return asked(told);
  };
  assert.equal(await call(), 1);
  assert.equal(await call(), 0, "what was given is kept");
  await letTokensExpire();
  assert.equal(await call(), 0, "nobody was asked again");
});

// The suite's own client for authorization servers: it prints a link, waits for the answer, and judges every step.
async function conformance() {
  const port = 53683;
  const reply = await fetch(`${server}/register`, {
    method: "POST", headers: { "content-type": "application/json" },
    body: JSON.stringify({ redirect_uris: [`http://127.0.0.1:${port}/callback`], token_endpoint_auth_method: "none" }),
  });
  const { client_id } = await reply.json();
  const child = spawn(process.execPath, [program("@modelcontextprotocol/conformance", "dist/index.js"), "authorization", "--url", server, "--client-id", client_id,
    "--port", String(port), "--resource", `${server}/mcp-compat`], { stdio: ["ignore", "pipe", "inherit"] });
  const ended = new Promise((resolve) => child.on("exit", resolve));
  let told = "";
  for await (const line of createInterface({ input: child.stdout })) {
    told += `${line}\n`;
    if (line.startsWith(`${server}/authorize?`)) await fetch(await allow(line.trim()));
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
  "mcp-remote on /mcp-compat": () => remote("/mcp-compat"),
  "mcp-remote on /mcp": () => remote("/mcp", "--protocol", "auto"),
  "Inspector on /mcp-compat": () => inspector("/mcp-compat", "legacy"),
  "Inspector on /mcp": () => inspector("/mcp", "modern"),
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
github.secrets.forEach(keep);
console.log(JSON.stringify({ secrets: [...secrets] }));
github.close();
process.exit(failed ? 1 : 0);
