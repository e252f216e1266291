// Stands in front of the shifted glue: it shows how many rows the vault holds and how many keys its cache, and lets the
// vault fail or the cache miss while a request says so.
import * as glue from "./shifted.mjs";
export * from "./shifted.mjs";

const TABLES = ["grants", "access", "retired", "flows"];
let fails = false;
let misses = false;
let environment;

// The environment with a cache that can miss. The Worker keeps the first one that it sees.
function watch(env) {
  const cache = new Proxy(env.OAUTH_KV, {
    get(kv, name) {
      if (name === "get" && misses) return async () => null;
      return typeof kv[name] === "function" ? kv[name].bind(kv) : kv[name];
    },
  });
  return new Proxy(env, { get: (bindings, name) => (name === "OAUTH_KV" ? cache : bindings[name]) });
}

const COUNTED = {
  "/rows": async (env) => new Response(await env.AUTH_VAULT.getByName("main").ask(undefined, "rows")),
  "/cached": async (env) => Response.json((await env.OAUTH_KV.list()).keys.length),
};

export function fetch(request, body, env) {
  const count = COUNTED[new URL(request.url).pathname];
  // What the entry drives like work of Wasm: a promise first, then what it came to.
  if (count) return { step: (response) => response ?? count(env), free() {} };
  fails = request.headers.has("x-vault-fails");
  misses = request.headers.has("x-cache-misses");
  environment ??= watch(env);
  return glue.fetch(request, body, environment);
}

export class AuthVault extends glue.AuthVault {
  #sql;

  constructor(state, env) {
    super(state, env);
    this.#sql = state.storage.sql;
  }

  ask(question, requestId) {
    if (fails) return Promise.reject(new Error("a fault of the test"));
    if (requestId !== "rows") return super.ask(question, requestId);
    const count = (table) => [...this.#sql.exec(`SELECT count(*) AS rows FROM ${table}`)][0].rows;
    return JSON.stringify(Object.fromEntries(TABLES.map((table) => [table, count(table)])));
  }
}
