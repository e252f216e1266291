// A GitHub on loopback, as far as a browser and the server can tell.

import { createHash, randomBytes } from "node:crypto";
import { createServer } from "node:http";

const html = (body) => `<!doctype html><meta charset=utf-8><title>GitHub</title><body>${body}`;

// `mode`: "asks" shows a page with buttons, "passes" sends the browser straight back, as for somebody who was here before.
// Whoever comes is `login` with the number `id`, unless the address says `as=login:id`.
export async function serveGitHub() {
  const github = { mode: "asks", login: "octocat", id: 583231, requests: [], secrets: [] };
  const codes = new Map();
  const tokens = new Map();
  const mint = (start) => {
    const secret = start + randomBytes(16).toString("hex");
    github.secrets.push(secret);
    return secret;
  };
  const server = createServer(async (request, response) => {
    const url = new URL(request.url, "http://github");
    const one = (name) => url.searchParams.get(name);
    let body = "";
    for await (const chunk of request) body += chunk;
    for (const name of ["state", "code_challenge"]) if (one(name)) github.secrets.push(one(name));
    const verifier = new URLSearchParams(body).get("code_verifier");
    if (verifier) github.secrets.push(verifier);
    github.requests.push(`${request.method} ${url.pathname}`);
    const json = (value) => response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(value));
    if (url.pathname === "/login/oauth/authorize") {
      const back = (fields) => `${one("redirect_uri")}?${new URLSearchParams({ ...fields, state: one("state") })}`;
      const code = mint("");
      const [login, id] = one("as")?.split(":") ?? [github.login, github.id];
      codes.set(code, { challenge: one("code_challenge"), login, id: Number(id) });
      if (github.mode === "passes") return response.writeHead(302, { location: back({ code }) }).end();
      return response.writeHead(200, { "content-type": "text/html" }).end(html(
        `<h1>Sign in to GitHub</h1><a id=yes href="${back({ code }).replaceAll("&", "&amp;")}">Authorize</a> `
        + `<a id=no href="${back({ error: "access_denied" }).replaceAll("&", "&amp;")}">Cancel</a>`));
    }
    if (url.pathname === "/login/oauth/access_token") {
      const form = new URLSearchParams(body);
      const found = codes.get(form.get("code"));
      codes.delete(form.get("code"));
      const challenge = createHash("sha256").update(form.get("code_verifier") ?? "").digest("base64url");
      if (!found || found.challenge !== challenge) return json({ error: "bad_verification_code" });
      const token = mint("gho_");
      tokens.set(token, found);
      return json({ access_token: token, token_type: "bearer", scope: "" });
    }
    if (url.pathname === "/api/user") {
      const found = tokens.get(request.headers.authorization?.replace("Bearer ", ""));
      if (!found || !request.headers["user-agent"]) return response.writeHead(401).end();
      return json({ id: found.id, login: found.login, type: "User" });
    }
    if (request.method === "DELETE") return response.writeHead(204).end();
    response.writeHead(404).end();
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  github.url = `http://localhost:${server.address().port}`;
  github.close = () => server.close();
  return github;
}
