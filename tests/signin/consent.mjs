// Somebody who consents, as far as the sign-in needs a browser for it: cookies, the one form, the interstitial.

import assert from "node:assert/strict";

const ENTITIES = { "&quot;": '"', "&#39;": "'", "&lt;": "<", "&gt;": ">", "&amp;": "&" };
const plain = (text) => text.replace(/&(?:quot|#39|lt|gt|amp);/g, (entity) => ENTITIES[entity]);

// Follows a client's link to the end. Returns the address that the client gets. `account` is `login:number` at GitHub,
// `headers` go along with every request to the server, and everything secret that was seen is told to `seen`.
export async function consent(link, { account, headers = {}, seen = () => {} } = {}) {
  const server = new URL(link).origin;
  const cookies = new Map();
  const visit = async (url, options = {}) => {
    const own = new URL(url).origin === server;
    const sent = { ...(own && headers), ...options.headers };
    if (own && cookies.size) sent.cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const reply = await fetch(url, { redirect: "manual", ...options, headers: sent });
    for (const text of reply.headers.getSetCookie()) {
      const [name, value] = text.split(";")[0].split("=");
      cookies.set(name, value);
      seen(value);
    }
    return reply;
  };
  const page = await (await visit(link)).text();
  const field = (name) => {
    const [, value] = page.match(new RegExp(`name="${name}" value="([^"]*)"`)) ?? assert.fail(page);
    return plain(value);
  };
  const form = { q: field("q"), csrf: field("csrf"), decision: "approve" };
  seen(form.csrf);
  const onward = await (await visit(`${server}/authorize`, {
    method: "POST", headers: { origin: server, "sec-fetch-site": "same-origin" }, body: new URLSearchParams(form),
  })).text();
  const github = new URL(plain(onward.match(/content="0;url=([^"]*)"/)[1]));
  for (const name of ["state", "code_challenge"]) seen(github.searchParams.get(name));
  if (account) github.searchParams.set("as", account);
  const passed = new URL((await visit(github)).headers.get("location"));
  seen(passed.searchParams.get("code"));
  const back = await visit(passed);
  assert.equal(back.status, 303, await back.text());
  const answer = new URL(back.headers.get("location"));
  for (const name of ["code", "state"]) seen(answer.searchParams.get(name));
  return answer;
}
