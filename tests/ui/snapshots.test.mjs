// What twelve scenes look like, written down: the structure that is drawn, its words, and its colours in both themes.
// `UPDATE=1` writes `snapshots.txt` anew; pictures.mjs shows the same scenes to eyes.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { builtPage, openBrowser, openHost, serveHost } from "./harness.mjs";
import { scenes } from "./scenes.mjs";

const file = new URL("snapshots.txt", import.meta.url);
const html = builtPage();
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

// One line for each thing that is drawn. Sizes stay out: they are the fonts' business.
function outline() {
  const lines = [];
  const colour = (element, name) => getComputedStyle(element)[name];
  const card = document.getElementById("card");
  lines.push(`ink ${colour(card, "color")} surface ${colour(card, "backgroundColor")}`);
  const rail = (element) => {
    const count = (selector) => element.querySelectorAll(selector).length;
    const node = element.querySelector("g");
    return `[${count("line:not(.arc)")} lines ${count(".strong")} strong ${count("path:not(.arc)")} forks ${count(".arc")} arcs`
      + `${node ? ` ${node.getAttribute("class")} ${node.textContent} ${colour(node.querySelector(".node"), "stroke")}` : ""}]`;
  };
  const words = (element) => [...element.childNodes].map((node) => (node.nodeType === 3 ? node.data
    : node.matches?.("svg, .vh, .body") ? "" : words(node))).join(" ").replace(/\s+/g, " ").trim();
  for (const element of card.querySelectorAll("article, header, .step > .prose, .notice, .filters:not([hidden]), li, .body, .chip")) {
    const drawn = element.querySelector(":scope > svg.rail");
    const name = `${element.localName}.${element.getAttribute("class").replace(/ clamp| cut/g, "").replaceAll(" ", ".")}`;
    const text = element.matches("article") ? "" : words(element).slice(0, 90);
    lines.push(`  ${name} ${drawn ? rail(drawn) : ""} ${text}${element.matches(".chip") ? ` ${colour(element, "color")}` : ""}`.trimEnd());
  }
  return lines.join("\n");
}

test("twelve scenes look as they did, in light and dark", { timeout: 180000 }, async () => {
  let text = "";
  for (const theme of ["light", "dark"]) {
    const host = await openHost(browser, served, { scheme: theme });
    for (const [name, play] of Object.entries(scenes)) {
      const card = await play((options) => host.mount({ html, context: { theme }, ...options }));
      await card.settle();
      text += `${name}, ${theme}\n${await card.frame.evaluate(outline)}\n\n`;
    }
    assert.deepEqual(host.trouble, { errors: [], requests: [] });
    await host.close();
  }
  if (process.env.UPDATE) {
    writeFileSync(file, text);
  }
  assert.equal(text, readFileSync(file, "utf8"));
});
