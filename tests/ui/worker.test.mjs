// The card of the real Worker: read from it, fed by it, and reading its history, in both eras of the protocol.
// `cargo xtask test ui` starts the Worker and says where it is.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { builtPage, createScenes, openBrowser, openHost, serveHost } from "./harness.mjs";
import { callsOf, cartStory, longStory } from "./stories.mjs";

const { CARD_SERVER: url, CARD_TOKEN: token } = process.env;
let browser;
let served;

before(async () => {
  assert.ok(url && token, "CARD_SERVER and CARD_TOKEN name the Worker: run `cargo xtask test ui`");
  browser = await openBrowser();
  served = await serveHost({ url, token });
});
after(async () => {
  served?.close();
  await browser?.close();
});

const scene = createScenes(test, (options) => openHost(browser, served, options));

// Thinks a story through the real tool; resolves with the calls and their results.
async function think(host, story) {
  const calls = [];
  const results = [];
  for (const call of callsOf(story, undefined)) {
    const input = { ...call, ...(results.length ? { sequenceId: results[0].structuredContent.sequenceId } : {}) };
    const result = await host.call("callServer", { name: "sequentialthinking", arguments: input });
    assert.ok(!result.isError, JSON.stringify(result.content));
    calls.push(input);
    results.push(result);
  }
  return { calls, results };
}

for (const [era, path] of [["auto", "/mcp"], ["legacy", "/mcp-compat"]]) {
  // The options only make the page one of its own: a client serves one era.
  scene(`thinks, draws and reads back on ${path}`, { scheme: "light" }, async (host) => {
    await host.call("connect", { url: path, era });
    const { listed, read } = await host.call("readCard");
    const entry = listed.find((resource) => resource.uri === "ui://sequential-thinking/process.html");
    for (const meta of [entry._meta, read._meta]) {
      assert.deepEqual(meta.ui.csp, { connectDomains: [], resourceDomains: [], frameDomains: [], baseUriDomains: [] });
      assert.equal(meta.ui.domain, undefined);
    }
    assert.equal(read.mimeType, "text/html;profile=mcp-app");
    assert.equal(read.text, builtPage(), "the Worker serves the document that was built");
    const { calls, results } = await think(host, cartStory);
    assert.equal(results[0]._meta.ui, undefined, "no UI metadata in results");
    const step = await host.mount({ html: read.text, trustedTypes: true });
    await step.input(calls[4]);
    await step.result(results[4]);
    await step.frame.getByText("log-position · from 4").waitFor();
    const alone = await host.mount({ html: read.text });
    await alone.result(results[3]);
    await alone.frame.getByText("Pinning a session to the primary for 6.4 s").waitFor();
    assert.doesNotMatch(await alone.text(), /seq_|stored|Note/);
    const final = await host.mount({ html: read.text, trustedTypes: true });
    await final.input(calls.at(-1));
    await final.result(results.at(-1));
    await final.frame.getByText("12 steps").first().waitFor();
    const facts = await final.frame.evaluate(() => ({
      forks: document.querySelectorAll(".rail path:not(.arc)").length,
      path: [...document.querySelectorAll("li.on")].map((row) => row.dataset.ordinal).join(" "),
      colours: [...document.querySelectorAll("li.row .chip")].map((chip) => chip.textContent),
    }));
    assert.deepEqual(facts, { forks: 2, path: "1 2 4 10 11 12",
      colours: ["revised in 4", "revises 3", "log-position", "edge-cache", "revised in 6", "revises 5"] });
    assert.equal((await final.facts()).calls.length, 1);
    assert.deepEqual(await final.violations(), []);
    const failed = await host.mount({ html: read.text });
    const refusal = await host.call("callServer", { name: "sequentialthinking", arguments: { ...calls[1], isRevision: true, revisesThought: 99 } });
    await failed.input(calls[1]);
    await failed.result(refusal);
    await failed.frame.getByText("Failed").waitFor();
    assert.ok(!(await failed.text()).includes(results[0].structuredContent.sequenceId));
    const steps = await host.call("callServer", { name: "delete_thought_sequence", arguments: { sequenceId: calls[1].sequenceId, confirm: true } });
    assert.equal(steps.structuredContent.deleted, true);
    const gone = await host.mount({ html: read.text });
    await gone.input(calls.at(-1));
    await gone.result(results.at(-1));
    await gone.frame.getByText("The other steps could not be read").waitFor();
  });
}

scene("reads a process of three pages, and keeps to the steps that its card knew", { scheme: "dark" }, async (host) => {
  await host.call("connect", { url: "/mcp", era: "auto" });
  const { read } = await host.call("readCard");
  const story = longStory(220).map((step) => ({ ...step, totalThoughts: 220 }));
  const { calls, results } = await think(host, story);
  await host.call("callServer", { name: "sequentialthinking", arguments: { sequenceId: calls[1].sequenceId, thought: "One more.", thoughtNumber: 900, totalThoughts: 900, nextThoughtNeeded: false } });
  const card = await host.mount({ html: read.text, context: { theme: "dark" } });
  await card.input(calls.at(-1));
  await card.result(results.at(-1));
  await card.frame.getByText("220 steps").first().waitFor();
  const { calls: asked } = await card.facts();
  assert.equal(asked.length, 3);
  assert.ok(await card.height() <= 500);
  assert.doesNotMatch(await card.text(), /One more\./);
});
