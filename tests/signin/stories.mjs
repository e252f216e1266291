// Chromium against the real Worker in workerd and a GitHub on loopback. Started by tests/e2e/tests/it/sign_in.rs:
// it prints GitHub's address, reads the server's from standard input, and plays every story.

import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { createInterface } from "node:readline";
import { chromium } from "playwright-core";
import { serveApp } from "./app.mjs";
import { serveGitHub } from "./github.mjs";

const github = await serveGitHub();
console.log(JSON.stringify({ github: github.url }));
const lines = createInterface({ input: process.stdin });
const server = (await lines[Symbol.asyncIterator]().next()).value.trim();

const app = await serveApp(server);
const client = await app.register();
const shots = process.env.SCREENSHOTS;
if (shots) mkdirSync(shots, { recursive: true });
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--test-third-party-cookie-phaseout", "--block-third-party-cookies"],
});

// Everything that a browser sent: what the log must not hold. Shorter values are words.
const sent = new Set(["loopback-secret"]);
const keep = (values) => [...values].filter((value) => value?.length >= 12).forEach((value) => sent.add(value));
let complaints = [];
const reading = [];
async function open(options = {}) {
  const context = await browser.newContext({ viewport: { width: 390, height: 844 }, ...options });
  context.on("console", (message) => {
    if (message.type() === "error" && !/favicon|status of 4/.test(message.text())) complaints.push(message.text());
  });
  context.on("request", (request) => {
    keep(new URL(request.url()).searchParams.values());
    keep(new URLSearchParams(request.postData() ?? "").values());
    reading.push(request.allHeaders().then((headers) => {
      keep(Object.values(headers));
      keep((headers.cookie ?? "").split("; ").map((pair) => pair.slice(pair.indexOf("=") + 1)));
    }, () => {}));
  });
  context.on("weberror", (error) => complaints.push(String(error.error())));
  return context;
}
const snap = (page, name) => shots && page.screenshot({ path: `${shots}/${name}.png`, fullPage: true });
const allow = (page) => page.getByRole("button", { name: "Allow" });

// From the link to the page of GitHub, or further when it passes people through.
async function begin(context, flow) {
  const page = await context.newPage();
  await page.goto(flow.link);
  await allow(page).click();
  return page;
}

async function finish(flow) {
  const answer = await flow.answer;
  assert.equal(answer.iss, server);
  assert.equal(answer.error, undefined);
  const tokens = await app.redeem(flow, answer.code);
  assert.equal(tokens.status, 200, JSON.stringify(tokens));
  const thought = await app.think(tokens.access_token);
  assert.equal(thought.status, 200, thought.body);
  assert.match(thought.body, /seq_/);
  return tokens;
}

const stories = {
  async "first sign-in, then a silent second one"() {
    const context = await open();
    github.mode = "asks";
    const first = app.begin(client);
    const page = await begin(context, first);
    await page.locator("#yes").click();
    await page.waitForURL(`${app.origin}/callback**`);
    await finish(first);
    github.mode = "passes";
    const second = app.begin(client);
    const again = await begin(context, second);
    await again.waitForURL(`${app.origin}/callback**`);
    await finish(second);
    await context.close();
  },
  async "cancel"() {
    const context = await open();
    const flow = app.begin(client);
    const page = await context.newPage();
    await page.goto(flow.link);
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.waitForURL(`${app.origin}/callback**`);
    assert.equal((await flow.answer).error, "access_denied");
    await context.close();
  },
  async "denial at GitHub"() {
    const context = await open();
    github.mode = "asks";
    const flow = app.begin(client);
    const page = await begin(context, flow);
    await page.locator("#no").click();
    assert.equal((await flow.answer).error, "access_denied");
    await context.close();
  },
  async "the wrong account"() {
    const context = await open();
    github.mode = "passes";
    Object.assign(github, { login: "mallory", id: 666 });
    const flow = app.begin(client);
    const page = await begin(context, flow);
    await page.getByRole("heading", { name: "This account has no access here" }).waitFor();
    await snap(page, "wrong-account");
    await page.getByRole("link", { name: /Return to/ }).click();
    assert.equal((await flow.answer).error, "access_denied");
    Object.assign(github, { login: "octocat", id: 583231 });
    await context.close();
  },
  async "two sign-ins at once"() {
    const context = await open();
    github.mode = "asks";
    const flows = [app.begin(client), app.begin(client)];
    const pages = [await begin(context, flows[0]), await begin(context, flows[1])];
    await pages[1].locator("#yes").click();
    await finish(flows[1]);
    await pages[0].locator("#yes").click();
    await finish(flows[0]);
    await context.close();
  },
  async "back button and double click"() {
    const context = await open();
    github.mode = "asks";
    const flow = app.begin(client);
    const page = await context.newPage();
    await page.goto(flow.link);
    await allow(page).dblclick();
    await page.locator("#yes").waitFor();
    // Back to the page that asks, and through it once more: the interstitial between left nothing to go back to.
    await page.goBack();
    await allow(page).click();
    await page.locator("#yes").click();
    await finish(flow);
    await context.close();
  },
  async "the callback once more"() {
    const context = await open();
    github.mode = "passes";
    const flow = app.begin(client);
    let callback;
    context.on("request", (request) => { if (request.url().startsWith(`${server}/callback`)) callback ??= request.url(); });
    const page = await begin(context, flow);
    await page.waitForURL(`${app.origin}/callback**`);
    const before = page.url();
    await page.goto(callback);
    assert.equal(page.url(), before);
    await finish(flow);
    await context.close();
  },
  async "another browser gets nothing"() {
    const context = await open();
    const victim = await open();
    github.mode = "asks";
    const page = await begin(context, app.begin(client));
    await page.locator("#yes").waitFor();
    const stolen = await victim.newPage();
    github.mode = "passes";
    await stolen.goto(page.url());
    await stolen.getByRole("heading", { name: "This sign-in was not started here" }).waitFor();
    await snap(stolen, "not-started-here");
    await Promise.all([context.close(), victim.close()]);
  },
  async "in a popup that reports back"() {
    const context = await open();
    github.mode = "passes";
    const flow = app.begin(client);
    const page = await context.newPage();
    await page.goto(app.origin);
    await page.evaluate((link) => {
      window.report = new Promise((resolve) => addEventListener("message", (event) => resolve(event.data)));
      window.open(link, "_blank", "popup");
    }, flow.link);
    const popup = await context.waitForEvent("page");
    await allow(popup).click();
    assert.equal(await page.evaluate(() => window.report), "done");
    await finish(flow);
    await context.close();
  },
  async "a client whose own callback leads on to an application"() {
    const context = await open();
    github.mode = "passes";
    app.onward = "claude://done";
    const flow = app.begin(client);
    await begin(context, flow);
    await finish(flow);
    app.onward = undefined;
    await context.close();
  },
  async "an application's own scheme"() {
    const context = await open();
    github.mode = "passes";
    const cursor = await app.register("cursor://anysphere.cursor-mcp/oauth/callback");
    const flow = app.begin(cursor);
    const page = await context.newPage();
    await page.goto(flow.link);
    await snap(page, "consent-application");
    await allow(page).click();
    const link = page.getByRole("link", { name: "Open cursor" });
    await link.waitFor();
    await snap(page, "signed-in");
    const onward = await link.getAttribute("href");
    assert.match(onward, /^cursor:\/\/anysphere\.cursor-mcp\/oauth\/callback\?code=mcpac/);
    const tokens = await app.redeem(flow, new URL(onward).searchParams.get("code"));
    assert.equal(tokens.status, 200);
    await context.close();
  },
  async "by keyboard alone, with names for every control"() {
    const context = await open();
    github.mode = "passes";
    const flow = app.begin(client);
    const page = await context.newPage();
    await page.goto(flow.link);
    assert.equal(await page.evaluate(() => document.activeElement.tagName), "BODY");
    await page.keyboard.press("Tab");
    assert.equal(await page.evaluate(() => document.activeElement.textContent), "Cancel");
    await page.keyboard.press("Tab");
    assert.equal(await page.evaluate(() => document.activeElement.textContent), "Allow");
    await page.keyboard.press("Enter");
    await finish(flow);
    await context.close();
  },
  async "pages on a phone, light and dark, from other origins"() {
    const site = await app.register("https://notes.example.com/oauth/callback");
    const known = await app.register("https://claude.ai/api/mcp/auth_callback");
    for (const scheme of ["light", "dark"]) {
      const context = await open({ colorScheme: scheme });
      const page = await context.newPage();
      for (const [name, who] of [["consent-site", site], ["consent-known", known], ["consent-computer", client]]) {
        await page.goto(app.begin(who).link);
        const wide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
        assert.equal(wide, false);
        await snap(page, `${name}-${scheme}`);
      }
      // Between here and GitHub: nothing comes from there, so the page stays.
      await page.route(`${github.url}/**`, (route) => route.fulfill({ status: 204 }));
      await allow(page).click();
      await page.getByRole("heading", { name: "One moment" }).waitFor();
      await snap(page, `waiting-${scheme}`);
      await page.goto(`${server}/authorize?client_id=mc1_x`);
      await snap(page, `unknown-client-${scheme}`);
      await context.close();
    }
    const context = await open({ viewport: { width: 1200, height: 800 } });
    const page = await context.newPage();
    await page.goto(app.begin(site).link);
    await snap(page, "consent-wide");
    // What a browser client on another origin may read.
    await page.goto(app.origin);
    const seen = await page.evaluate(async (server) => {
      const challenge = await fetch(`${server}/.well-known/oauth-protected-resource/mcp-compat`, { headers: { "mcp-protocol-version": "2025-11-25" } });
      const token = await fetch(`${server}/token`, { method: "POST", body: new URLSearchParams({ grant_type: "x" }) });
      return [challenge.status, (await challenge.json()).resource, token.status, (await token.json()).error];
    }, server);
    assert.deepEqual(seen, [200, `${server}/mcp-compat`, 401, "invalid_client"]);
    await context.close();
  },
};

let failed = 0;
for (const [name, story] of Object.entries(stories)) {
  complaints = [];
  try {
    await story();
    const policy = complaints.filter((text) => /Content Security Policy|Refused to/.test(text));
    assert.deepEqual(policy, [], "no word about a policy in the console");
    console.log(`ok ${name}`);
  } catch (error) {
    failed += 1;
    console.log(`FAILED ${name}: ${error.stack} ${JSON.stringify(complaints)}`);
  }
}
await Promise.all(reading);
await browser.close();
keep(app.secrets);
keep(github.secrets);
console.log(JSON.stringify({ secrets: [...sent] }));
app.close();
github.close();
process.exit(failed ? 1 : 0);
