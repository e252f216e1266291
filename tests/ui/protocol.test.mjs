// The card's side of the protocol, and what hosts are known to do with it.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { builtPage, createScenes, openBrowser, openHost, serveHost } from "./harness.mjs";
import { cartStory, longStory, serve } from "./stories.mjs";

const html = builtPage();
// Long waits of the card become short, and a script of the host's stands in the head, as in VS Code.
const impatient = html.replace("<head>",
  "<head><script>{const wait=window.setTimeout;window.setTimeout=(f,ms)=>wait(f,ms>5000?2500:ms)}</script>");
let browser;
let served;

before(async () => {
  browser = await openBrowser();
  served = await serveHost();
});
after(async () => {
  served.close();
  await browser.close();
});

const scene = createScenes(test, (options) => openHost(browser, served, options));

const cart = serve(cartStory);
const last = cart.calls.length - 1;
const history = (params) => cart.history(params.arguments);
const until = (card, text) => card.frame.getByText(text).first().waitFor();
const methods = (log, from) => log.filter((entry) => entry.from === from).map((entry) => entry.message.method ?? "answer");

scene("shakes hands first, with all three parameters, and reports its height only", {}, async (host) => {
  const card = await host.mount({ html });
  await card.input(cart.calls[2]);
  await card.result(cart.results[2]);
  await until(card, "Step 3");
  await card.settle();
  const { log, width, calls } = await card.facts();
  assert.deepEqual(log[0].message, { jsonrpc: "2.0", id: 1, method: "ui/initialize", params: {
    protocolVersion: "2026-01-26",
    appInfo: { name: "sequential-thinking-process", version: "1.0.0" },
    appCapabilities: { availableDisplayModes: ["inline", "fullscreen"] },
  } });
  assert.deepEqual(methods(log, "card").slice(0, 3),
    ["ui/initialize", "ui/notifications/initialized", "ui/notifications/size-changed"]);
  assert.equal(width, undefined);
  assert.deepEqual(calls, [], "a step card asks for nothing");
  assert.deepEqual(await card.violations(), []);
});

scene("answers ping and teardown and refuses other requests", {}, async (host) => {
  const card = await host.mount({ html });
  assert.deepEqual((await card.ping()).result, {});
  assert.deepEqual(await card.teardown(), {});
  await card.raw({ jsonrpc: "2.0", id: "h1", method: "tools/list" });
  await card.ping();
  const { log } = await card.facts();
  assert.equal(log.find((entry) => entry.message.id === "h1" && entry.from === "card").message.error.code, -32601);
});

scene("shows streamed text without a total, then the step", {}, async (host) => {
  const card = await host.mount({ html });
  await until(card, "Waiting for the thought…");
  await card.partial({ thought: "First, list the fac", thoughtNumber: 1 });
  await until(card, "First, list the fac");
  assert.doesNotMatch(await card.text(), /Step|of/);
  assert.equal(await card.frame.locator("[aria-busy=true]").count(), 1);
  await card.input(cart.calls[2]);
  await until(card, "of 8");
  assert.equal(await card.frame.locator("[aria-busy=true]").count(), 0);
});

scene("draws the same input once, and takes the result before the input", {}, async (host) => {
  const card = await host.mount({ html });
  await card.input(cart.calls[3]);
  await until(card, "Step 4");
  const first = await card.frame.locator("article").elementHandle();
  await card.input(cart.calls[3]);
  await card.ping();
  assert.ok(await first.evaluate((element) => element.isConnected), "the second input drew nothing new");
  const other = await host.mount({ html });
  await other.result(cart.results[4]);
  await other.input(cart.calls[4]);
  await until(other, "log-position");
  await until(other, "from 4");
});

scene("tells cancelled from failed, and lets a late result win", {}, async (host) => {
  const cancelled = await host.mount({ html });
  await cancelled.input(cart.calls[2]);
  await cancelled.cancel("user action");
  await until(cancelled, "Cancelled before it was stored.");
  assert.doesNotMatch(await cancelled.text(), /Failed|Error/);
  await cancelled.result(cart.results[2]);
  await until(cancelled, "Step 3");
  assert.doesNotMatch(await cancelled.text(), /Cancelled/);
  const failed = await host.mount({ html });
  await failed.input(cart.calls[2]);
  await failed.result({ isError: true, content: [{ type: "text", text: `sequence_not_found (not_found): no sequence ${cart.sequenceId}` }] });
  await until(failed, "Failed");
  assert.match(await failed.text(), /sequence_not_found/);
  assert.doesNotMatch(await failed.text(), /0123456789abcdef/);
});

scene("recovers from a result alone, and never shows the id", { }, async (host) => {
  const step = await host.mount({ html });
  await step.result(cart.results[7]);
  await until(step, "Two tabs that reach");
  await until(step, "edge-cache");
  assert.doesNotMatch(await step.text(), /seq_|stored/);
  const final = await host.mount({ html, history });
  await final.result(cart.results[last]);
  await until(final, "12 steps");
  await until(final, "Return the log position");
});

scene("says so when the host has no server tools", {}, async (host) => {
  const card = await host.mount({ html, capabilities: { serverTools: undefined }, history });
  await card.input(cart.calls[last]);
  await card.result(cart.results[last]);
  await until(card, "This app does not let cards read the other steps.");
  await until(card, "Return the log position");
  assert.deepEqual((await card.facts()).calls, []);
});

scene("loads the history once, page by page, and only the steps that were there", {}, async (host) => {
  const story = longStory(230);
  const server = serve(story);
  const card = await host.mount({ html, history: (params) => server.history(params.arguments) });
  const at = 204;
  const result = structuredClone(server.results[at]);
  Object.values(result._meta)[0].nextThoughtNeeded = false;
  await card.input({ ...server.calls[at], nextThoughtNeeded: false });
  await card.result(result);
  await until(card, "205 steps");
  await card.result(result);
  await card.ping();
  const { calls } = await card.facts();
  assert.equal(calls.length, 3);
  assert.ok(calls.every((call) => call.name === "get_thought_history" && call.arguments.sequenceId === server.sequenceId));
  assert.deepEqual(calls.map((call) => call.arguments.cursor), [undefined, "c100", "c200"]);
});

scene("tells the three failures of a history apart from a wait, and tries again by hand", {}, async (host) => {
  const answers = {
    refused: () => ({ isError: true, content: [{ type: "text", text: "cursor_invalid (input): start over" }] }),
    denied: () => { throw new Error("denied by user"); },
    silent: () => new Promise(() => {}),
  };
  for (const [kind, words] of [["refused", /could not be read: cursor_invalid/], ["denied", /could not be read: .*denied/], ["silent", /did not arrive/]]) {
    let healed = false;
    const card = await host.mount({ html: impatient, history: (params) => (healed ? history(params) : answers[kind]()) });
    await card.input(cart.calls[last]);
    await card.result(cart.results[last]);
    await card.frame.getByText(words).waitFor();
    await until(card, "Return the log position");
    healed = true;
    await card.frame.getByRole("button", { name: "Try again" }).click();
    await until(card, "12 steps");
    assert.equal((await card.facts()).calls.length, 2);
    if (kind === "silent") {
      const { log } = await card.facts();
      assert.ok(methods(log, "card").includes("notifications/cancelled"));
    }
  }
});

scene("says that nothing came rather than wait for ever", {}, async (host) => {
  const card = await host.mount({ html: impatient });
  await until(card, "The app sent no thought to this card.");
  await card.input(cart.calls[0]);
  await until(card, "Step 1");
});

scene("takes data from a host that never answers the handshake", {}, async (host) => {
  const card = await host.mount({ html: impatient.replaceAll("ui/initialize", "ui/unknown"), silent: ["initialize"] });
  await card.frame.locator("#card").waitFor();
  await card.raw({ jsonrpc: "2.0", method: "ui/notifications/tool-input", params: { arguments: cart.calls[0] } });
  await until(card, "Customers in Sydney");
});

scene("reads ChatGPT's globals when no message comes", {}, async (host) => {
  const globals = (result, call) => html.replace("<head>", `<head><script>window.openai=${JSON.stringify({
    toolInput: call, toolOutput: result.structuredContent, toolResponseMetadata: result._meta,
  }).replaceAll("<", "\\u003c")}</script>`);
  const step = await host.mount({ html: globals(cart.results[4], cart.calls[4]) });
  await until(step, "log-position");
  const final = await host.mount({ html: globals(cart.results[last], undefined), history });
  await until(final, "12 steps");
});

scene("keeps two sequences apart", {}, async (host) => {
  const other = serve(longStory(9), { sequenceId: "seq_zzzzzzzzzzzzzzzzzzzzzzzzzz" });
  const a = await host.mount({ html, history });
  const b = await host.mount({ html, history: (params) => other.history(params.arguments) });
  await Promise.all([a.input(cart.calls[last]), b.input(other.calls.at(-1)), b.result(other.results.at(-1)), a.result(cart.results[last])]);
  await until(a, "12 steps");
  await until(b, "9 steps");
  assert.doesNotMatch(await b.text(), /Sydney/);
  assert.equal((await a.facts()).calls[0].arguments.sequenceId, cart.sequenceId);
  assert.equal((await b.facts()).calls[0].arguments.sequenceId, other.sequenceId);
});

scene("hears nobody but its parent, and only answers that it waits for", {}, async (host) => {
  const card = await host.mount({ html });
  await card.input(cart.calls[1]);
  await until(card, "Step 2");
  await card.frame.evaluate(() => {
    const forged = { jsonrpc: "2.0", method: "ui/notifications/tool-input", params: { arguments: { thought: "forged", thoughtNumber: 9, totalThoughts: 9 } } };
    window.postMessage(forged, "*");
    const child = document.createElement("iframe");
    document.body.append(child);
    child.contentWindow.eval(`parent.postMessage(${JSON.stringify(forged)}, "*")`);
  }).catch(() => {});
  for (const message of [null, 7, "text", [], {}, { jsonrpc: "1.0", method: "ui/notifications/tool-input" },
    { jsonrpc: "2.0", id: 999, result: {} }, { jsonrpc: "2.0", id: 1, result: { hostContext: { theme: "dark" } } },
    { jsonrpc: "2.0", method: "constructor" }, { jsonrpc: "2.0", method: "ui/notifications/tool-input", params: null }]) {
    await card.raw(message);
  }
  await card.ping();
  assert.match(await card.text(), /Writes go to the primary/);
  assert.doesNotMatch(await card.text(), /forged/);
});

scene("does nothing behind the person's back", {}, async (host) => {
  const card = await host.mount({ html, history, context: { availableDisplayModes: ["inline", "fullscreen"] }, capabilities: { message: { text: {} }, updateModelContext: { text: {} } } });
  await card.input(cart.calls[last]);
  await card.result(cart.results[last]);
  await until(card, "12 steps");
  await card.frame.getByRole("button", { name: "Expand all" }).click();
  await card.settle();
  const { log } = await card.facts();
  const sent = new Set(methods(log, "card"));
  assert.deepEqual([...sent].sort(), ["tools/call", "ui/initialize", "ui/notifications/initialized", "ui/notifications/size-changed"]);
  const leaks = log.filter((entry) => entry.from === "card" && entry.message.method !== "tools/call" && JSON.stringify(entry.message).includes(cart.sequenceId));
  assert.deepEqual(leaks, []);
  assert.ok(!(await card.frame.evaluate(() => document.documentElement.outerHTML)).split("<script>")[0].includes(cart.sequenceId));
  assert.deepEqual(await card.violations(), []);
});

scene("takes 200 rounds of random JSON without a fault", {}, async (host) => {
  const card = await host.mount({ html, history: () => randomJson(seeded(1), 4) });
  const random = seeded(20261130);
  const keys = ["tool-input", "tool-input-partial", "tool-result", "tool-cancelled", "host-context-changed"];
  for (let round = 0; round < 200; round++) {
    const shape = round % 2 ? randomJson(random, 4) : mutate(random, [
      { arguments: cart.calls[round % 12] }, cart.results[round % 12], history({ arguments: { limit: 100 } }),
      { theme: "dark", styles: { variables: { "--color-text-primary": "red" } }, safeAreaInsets: { top: 3 } },
    ][random(4)]);
    await card.raw({ jsonrpc: "2.0", method: `ui/notifications/${keys[random(keys.length)]}`, params: shape });
  }
  assert.deepEqual((await card.ping()).result, {});
});

// A small generator, so that a failure can be played again.
function seeded(seed) {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

function randomJson(random, depth) {
  const plain = [null, true, false, 0, -1, 3, 1.5, 1e300, "", "3", "true", "main", "\u202e", "x".repeat(300), "👩‍💻", {}, []];
  if (depth === 0 || random(3) === 0) {
    return plain[random(plain.length)];
  }
  const names = ["arguments", "thought", "thoughtNumber", "totalThoughts", "branchId", "structuredContent", "_meta", "content", "thoughts",
    "sequence", "branches", "ordinal", "revised", "theme", "styles", "variables", "isError", "nextCursor", "nextThoughtNeeded", "__proto__x"];
  return random(2) ? Array.from({ length: random(4) }, () => randomJson(random, depth - 1))
    : Object.fromEntries(Array.from({ length: random(5) }, () => [names[random(names.length)], randomJson(random, depth - 1)]));
}

// The right shape with one value in it replaced.
function mutate(random, value) {
  const copy = structuredClone(value);
  let at = copy;
  for (;;) {
    const names = Object.keys(at);
    const name = names[random(names.length)];
    if (name === undefined) {
      return copy;
    }
    if (typeof at[name] !== "object" || at[name] === null || random(4) === 0) {
      at[name] = randomJson(random, 2);
      return copy;
    }
    at = at[name];
  }
}
