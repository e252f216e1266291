// The page for people whose client shows no cards, as the Worker serves it; the export behind it is a recorded one.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { after, before, test } from "node:test";
import { openBrowser } from "./harness.mjs";
import { cartStory, serve } from "./stories.mjs";

const { CARD_SERVER: url } = process.env;
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
let browser;

before(async () => {
  assert.ok(url, "CARD_SERVER names the Worker: run `cargo xtask test ui`");
  browser = await openBrowser();
});
after(() => browser?.close());

test("asks for token and id, keeps them to itself, and draws", { timeout: 90000 }, async () => {
  const { sequenceId, history } = serve(cartStory);
  const { sequence, thoughts } = history({ limit: 100 }).structuredContent;
  const document = { format: "durable-thinking/sequence", version: 1, sequence: { ...sequence, sequenceId: undefined }, thoughts };
  const context = await browser.newContext({ viewport: { width: 1100, height: 900 } });
  // The audit comes from outside the page's policy.
  const page = await context.newPage();
  const trouble = [];
  page.on("console", (message) => message.type() === "error" && trouble.push(message.text()));
  page.on("pageerror", (error) => trouble.push(String(error)));
  const asked = [];
  await page.route("**/export", async (route) => {
    const request = route.request();
    asked.push({ body: request.postDataJSON(), authorization: request.headers().authorization });
    const known = request.headers().authorization === "Bearer right";
    await route.fulfill(known ? { json: document } : { status: 401, json: { error: "invalid_token" } });
  });
  const answer = await page.goto(`${url}/view#${sequenceId}`);
  const policy = answer.headers()["content-security-policy"];
  assert.match(policy, /^default-src 'none'; script-src 'sha256-[^']+'; style-src 'sha256-[^']+'; connect-src 'self'; /);
  assert.match(policy, /frame-ancestors 'none'/);
  assert.equal(page.url(), `${url}/view`, "the fragment is gone from the address");
  await page.getByLabel("Token").fill("wrong");
  await page.getByRole("button", { name: "Show" }).click();
  await page.getByText("does not know this token").waitFor();
  // A refused request is logged by the browser itself.
  assert.deepEqual(trouble.filter((text) => !/401/.test(text)), []);
  await page.getByLabel("Token").fill("right");
  await page.getByRole("button", { name: "Show" }).click();
  await page.getByText("12 steps").first().waitFor();
  assert.deepEqual(asked.at(-1).body, { sequenceId, format: "json" });
  assert.equal(await page.locator("li.row").count(), 12);
  await page.getByRole("button", { name: /^Step 4, revises 3/ }).click();
  assert.equal(await page.locator("del").count(), 3);
  await page.getByRole("button", { name: "edge-cache", exact: true }).click();
  assert.equal(await page.locator("li.row").count(), 3);
  assert.ok(!(await page.content()).includes(sequenceId) && !(await page.content()).includes("right\""));
  assert.deepEqual(await page.evaluate(() => [localStorage.length, sessionStorage.length, window.document.cookie]), [0, 0, ""]);
  assert.deepEqual(trouble.filter((text) => !/401/.test(text)), []);
  const client = await context.newCDPSession(page);
  await client.send("Page.setBypassCSP", { enabled: true });
  await page.evaluate(axe).catch(() => {});
  const found = await page.evaluate(() => window.axe?.run().then((result) => result.violations.map((violation) => violation.id)));
  assert.deepEqual(found ?? [], []);
  await context.close();
});
