// Workers KV on this machine: what workerd's KV binding asks over HTTP, answered from one SQLite object.
// Values, expiry, metadata and listing by prefix; the far-away caches of the real service are left out.
import { DurableObject } from "cloudflare:workers";

const SCHEMA = `CREATE TABLE IF NOT EXISTS entry (
  key TEXT PRIMARY KEY, value BLOB NOT NULL, metadata TEXT, expires INTEGER
) WITHOUT ROWID`;

export class Keys extends DurableObject {
  #sql;

  constructor(state, env) {
    super(state, env);
    this.#sql = state.storage.sql;
    this.#sql.exec(SCHEMA);
  }

  async fetch(request) {
    const url = new URL(request.url);
    const key = decodeURIComponent(url.pathname.slice(1));
    const now = Math.floor(Date.now() / 1000);
    this.#sql.exec("DELETE FROM entry WHERE expires <= ?", now);
    switch (request.method) {
      case "GET":
        return key ? this.#read(key) : this.#list(url.searchParams);
      case "PUT":
        return this.#write(key, request, url.searchParams, now);
      case "DELETE":
        this.#sql.exec("DELETE FROM entry WHERE key = ?", key);
        return new Response();
      default:
        return new Response("not offered on this machine", { status: 501 });
    }
  }

  #read(key) {
    const [row] = this.#sql.exec("SELECT value, metadata, expires FROM entry WHERE key = ?", key);
    if (!row) return new Response(null, { status: 404 });
    const headers = new Headers();
    if (row.metadata !== null) headers.set("CF-KV-Metadata", row.metadata);
    if (row.expires !== null) headers.set("Expiration", String(row.expires));
    return new Response(row.value, { headers });
  }

  async #write(key, request, query, now) {
    const value = await request.arrayBuffer();
    const ttl = Number(query.get("expiration_ttl"));
    const expires = ttl ? now + ttl : Number(query.get("expiration")) || null;
    const metadata = request.headers.get("CF-KV-Metadata");
    this.#sql.exec("INSERT OR REPLACE INTO entry VALUES (?, ?, ?, ?)", key, value, metadata, expires);
    return new Response();
  }

  #list(query) {
    const prefix = query.get("prefix") ?? "";
    const limit = Number(query.get("key_count_limit") ?? 1000);
    const after = query.get("cursor") ?? "";
    const rows = this.#sql
      .exec(
        `SELECT key, metadata, expires FROM entry
         WHERE substr(key, 1, length(?1)) = ?1 AND key > ?2 ORDER BY key LIMIT ?3`,
        prefix, after, limit + 1,
      )
      .toArray();
    const complete = rows.length <= limit;
    const keys = rows.slice(0, limit).map(({ key, metadata, expires }) => ({
      name: key,
      ...(expires !== null && { expiration: expires }),
      ...(metadata !== null && { metadata: JSON.parse(metadata) }),
    }));
    return Response.json({
      keys,
      list_complete: complete,
      ...(!complete && { cursor: keys.at(-1).name }),
      cacheStatus: null,
    });
  }
}

export default {
  fetch: (request, env) => env.KEYS.getByName("keys").fetch(request),
};
