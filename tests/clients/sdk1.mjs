// The TypeScript SDK, version 1. Arguments: the server's origin and token, then the native program and its database.
import assert from "node:assert/strict";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { check, tell } from "./chain.mjs";

const [origin, token, program, database] = process.argv.slice(2);
const about = { name: "sdk1", version: "1.0.0" };

const http = (path, bearer = token) =>
  new StreamableHTTPClientTransport(new URL(path, origin), { requestInit: { headers: { Authorization: `Bearer ${bearer}` } } });

async function through(transport) {
  const client = new Client(about);
  await client.connect(transport);
  assert.equal(client.getServerVersion().name, "durable-thinking");
  assert.ok(client.getInstructions().includes("sequenceId"));
  await client.ping();
  await tell(client);
  await client.close();
}

await check("sdk1 /mcp-compat", () => through(http("/mcp-compat")));
await check("sdk1 /", () => through(http("/")));
await check("sdk1 stdio", () => through(new StdioClientTransport({ command: program, args: ["--database", database] })));
await check("sdk1 /mcp says where to go", () => assert.rejects(new Client(about).connect(http("/mcp")), /mcp-compat/));
await check("sdk1 wrong token", () => assert.rejects(new Client(about).connect(http("/mcp-compat", "wrong")), /401|nauthorized|invalid_token/));
