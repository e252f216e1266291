// The least that a durable append can cost on this platform: one request, one object, one row.
import { DurableObject } from "cloudflare:workers";

export class ThoughtStore extends DurableObject {
  constructor(state, env) {
    super(state, env);
    this.sql = state.storage.sql;
    this.sql.exec("CREATE TABLE IF NOT EXISTS row (id INTEGER PRIMARY KEY, text TEXT NOT NULL)");
  }

  async fetch(request) {
    this.sql.exec("INSERT INTO row (text) VALUES (?)", await request.text());
    return new Response("stored");
  }
}

export { ThoughtStore as AuthVault };

// As long as the list of tools.
const LIST = "a".repeat(7_000);

// And the least that it takes to read a request and to answer it.
async function list(request) {
  await request.bytes();
  return new Response(LIST);
}

export default {
  fetch(request, env) {
    if (request.method !== "POST") return new Response("ok");
    if (request.url.endsWith("/mcp-compat")) return list(request);
    return env.THOUGHT_STORE.getByName("bare").fetch(request);
  },
};
