// The TypeScript SDK, version 2: by default, negotiating, and pinned to 2026-07-28. Arguments as for sdk1.mjs.
import assert from "node:assert/strict";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { check, tell } from "./chain.mjs";

const [origin, token, program, database] = process.argv.slice(2);
const about = { name: "sdk2", version: "1.0.0" };
const MODES = { default: undefined, auto: { mode: "auto" }, pinned: { mode: { pin: "2026-07-28" } } };

const http = (path) =>
  new StreamableHTTPClientTransport(new URL(path, origin), { requestInit: { headers: { Authorization: `Bearer ${token}` } } });
const stdio = () => new StdioClientTransport({ command: program, args: ["--database", database] });

async function through(mode, transport, version) {
  const client = new Client(about, { versionNegotiation: MODES[mode] });
  await client.connect(transport);
  assert.equal(client.getNegotiatedProtocolVersion(), version);
  assert.equal(client.getServerVersion().name, "durable-thinking");
  await tell(client);
  await client.close();
}

const NEW = "2026-07-28";
const OLD = "2025-11-25";
await check("sdk2 pinned on /mcp", () => through("pinned", http("/mcp"), NEW));
await check("sdk2 auto on /mcp", () => through("auto", http("/mcp"), NEW));
await check("sdk2 default on /mcp-compat", () => through("default", http("/mcp-compat"), OLD));
await check("sdk2 auto on /mcp-compat falls back", () => through("auto", http("/mcp-compat"), OLD));
await check("sdk2 pinned on stdio", () => through("pinned", stdio(), NEW));
await check("sdk2 auto on stdio", () => through("auto", stdio(), NEW));
await check("sdk2 default on stdio", () => through("default", stdio(), OLD));
await check("sdk2 default on /mcp says where to go", () => assert.rejects(through("default", http("/mcp"), OLD), /mcp-compat/));
await check("sdk2 pinned on /mcp-compat gives up", () => assert.rejects(through("pinned", http("/mcp-compat"), NEW), (error) => error.code === "ERA_NEGOTIATION_FAILED" || /negotiat/i.test(String(error))));
