// The exported graphs in Mermaid itself: what cannot be drawn, or what a label could do, no comparison of texts shows.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { after, before, test } from "node:test";
import { openBrowser } from "./harness.mjs";

const mermaid = createRequire(import.meta.url).resolve("mermaid/dist/mermaid.min.js");
const graph = (name) => readFileSync(new URL(`../fixtures/${name}.mmd`, import.meta.url), "utf8");
let browser;
let page;

before(async () => {
  browser = await openBrowser();
  page = await browser.newPage();
  await page.setContent("<!doctype html><meta charset=utf-8><body>");
  await page.addScriptTag({ path: mermaid });
});
after(() => browser?.close());

/** Draws a graph as a page with Mermaid's own limits does, and says what is seen. */
async function draw(name) {
  return page.evaluate(async ([id, text]) => {
    window.mermaid.initialize({ startOnLoad: false, theme: "neutral" });
    const { svg } = await window.mermaid.render(id, text);
    document.body.innerHTML = svg;
    const texts = (selector) => [...document.querySelectorAll(selector)].map((it) => it.textContent.trim());
    return {
      steps: texts(".node .nodeLabel"),
      lanes: texts(".cluster .nodeLabel"),
      edges: document.querySelectorAll("path.flowchart-link").length,
      foreign: document.querySelectorAll("svg script, svg a, svg img, svg iframe, svg details").length,
      title: document.querySelector("svg > title").textContent,
    };
  }, [name, graph(name)]);
}

test("a process is drawn with its branch, its correction and its rewind", { timeout: 120000 }, async () => {
  const drawn = await draw("story");
  assert.equal(drawn.steps.length, 11);
  assert.deepEqual(drawn.lanes, ["cache"]);
  assert.equal(drawn.edges, 12);
  assert.equal(drawn.title, "Thinking process");
  assert.ok(drawn.steps.includes("3 · An index on `author_id` would help."), drawn.steps.join("\n"));
});

test("hostile text is a label and nothing else", { timeout: 120000 }, async () => {
  const drawn = await draw("hostile");
  assert.deepEqual(drawn.lanes, ['</b>](x) `"]:::end ~~ @all']);
  assert.equal(drawn.steps.length, 9);
  assert.ok(drawn.steps.some((it) => it.startsWith("1 · </details></del><script>alert(1)</script>")), drawn.steps.join("\n"));
  assert.equal(drawn.foreign, 0);
});

test("a thousand steps, and three hundred branches, stay within what can be drawn", { timeout: 240000 }, async () => {
  assert.equal((await draw("long")).steps.length, 4);
  const wide = await draw("wide");
  assert.ok(wide.steps.length > 100 && wide.lanes.length >= 50, `${wide.steps.length} steps, ${wide.lanes.length} branches`);
});
