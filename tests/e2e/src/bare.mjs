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

export default {
  fetch: (request, env) =>
    request.method === "POST" ? env.THOUGHT_STORE.getByName("bare").fetch(request) : new Response("ok"),
};
