// What the card shows: sizes, folding, finding, taking away, and the same for everybody.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { after, before, test } from "node:test";
import { builtPage, createScenes, openBrowser, openHost, serveHost } from "./harness.mjs";
import { cartStory, longStory, serve } from "./stories.mjs";

const html = builtPage();
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
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
const until = (card, text) => card.frame.getByText(text).first().waitFor();

// Mounts the card of call `at` (or the last one) of a story, and waits for it.
async function mountStory(host, server, { at = server.calls.length - 1, ...options } = {}) {
  const card = await host.mount({ html, history: (params) => server.history(params.arguments), ...options });
  await card.input(server.calls[at]);
  await card.result(server.results[at]);
  await card.frame.locator(at === server.calls.length - 1 && at ? ".process" : ".step.shown").waitFor();
  await card.settle();
  return card;
}

async function wide(card) {
  return card.frame.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
}

async function audit(card, what) {
  await card.frame.evaluate(axe);
  const { violations, incomplete } = await card.frame.evaluate(() => axe.run(document, {
    runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
    // A card is a part of a page, not a page: landmarks and its one heading are the host's business.
    rules: { region: { enabled: false }, "page-has-heading-one": { enabled: false } },
  }));
  const told = violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => `${node.target} ${node.any[0]?.message ?? ""}`).slice(0, 3).join(" | ")}`);
  assert.deepEqual(told, [], what);
  return incomplete.length;
}

scene("keeps twelve, 37 and 300 steps within 500 pixels, and shrinks again", {}, async (host) => {
  for (const [story, shown] of [[cartStory, 12], [longStory(37), undefined], [longStory(300), undefined]]) {
    const card = await mountStory(host, serve(story));
    const height = await card.height();
    assert.ok(height <= 500, `${story.length} steps take ${height} px`);
    const rows = await card.frame.locator("li.row").count();
    assert.ok(shown === undefined ? rows >= 7 : rows === shown, `${rows} rows of ${story.length}`);
    await card.frame.getByRole("button", { name: "Expand all" }).click();
    assert.equal(await card.frame.locator("li.row").count(), story.length);
    await card.settle();
    assert.ok(await card.height() > height);
    await card.frame.getByRole("button", { name: "Collapse" }).click();
    await card.settle();
    assert.equal(await card.height(), height, "as high as before");
  }
});

scene("keeps within 500 pixels for fingers, with room for them", { touch: true }, async (host) => {
  for (const story of [cartStory, longStory(300)]) {
    const card = await mountStory(host, serve(story), { width: 360 });
    assert.ok(await card.height() <= 500, `${story.length} steps take ${await card.height()} px`);
    const low = await card.frame.locator("button:visible").evaluateAll((buttons) => buttons
      .filter((button) => button.getBoundingClientRect().height < 44).map((button) => button.textContent));
    assert.deepEqual(low, []);
  }
});

scene("keeps forks and corrections visible when it folds", {}, async (host) => {
  const card = await mountStory(host, serve(longStory(60)));
  const labels = await card.frame.locator("li.row .line > .vh").allTextContents();
  assert.ok(labels.some((label) => label.includes("on branch option-")), labels.join("; "));
  assert.ok(labels[0].startsWith("Step 1"));
  const gap = card.frame.locator("li.gap button").first();
  const before = await card.frame.locator("li.row").count();
  const hidden = Number.parseInt(await gap.textContent(), 10);
  await gap.click();
  assert.equal(await card.frame.locator("li.row").count(), before + hidden);
  assert.ok(await card.frame.evaluate(() => document.activeElement.matches("li.row .line")), "focus is on what was revealed");
});

scene("draws lanes, forks, arcs and the path", {}, async (host) => {
  const card = await mountStory(host, cart);
  const facts = await card.frame.evaluate(() => ({
    lanes: new Set([...document.querySelectorAll(".rail line:not(.arc)")].map((line) => line.getAttribute("x1"))).size,
    forks: document.querySelectorAll(".rail path:not(.arc)").length,
    arcs: new Set([...document.querySelectorAll("[data-arc]")].map((part) => part.dataset.arc)).size,
    struck: document.querySelectorAll("li.revised").length,
    path: [...document.querySelectorAll("li.on")].map((row) => row.dataset.ordinal).join(" "),
  }));
  assert.deepEqual(facts, { lanes: 3, forks: 2, arcs: 2, struck: 2, path: "1 2 4 10 11 12" });
});

scene("sets a rewound part aside and says that a branch hangs", {}, async (host) => {
  const card = await mountStory(host, serve([
    { thought: "Begin." , totalThoughts: 4 },
    { thought: "Follow the first idea.", totalThoughts: 4 },
    { thought: "A branch of the first idea.", branchId: "side", branchFromThought: 2, thoughtNumber: 3, totalThoughts: 4 },
    { thought: "More of the first idea.", thoughtNumber: 3, totalThoughts: 4 },
    { thought: "The first idea was wrong from the start.", thoughtNumber: 4, totalThoughts: 5, isRevision: true, revisesThought: 2, rewind: true },
    { thought: "In short: the second idea.", thoughtNumber: 5, totalThoughts: 6, summarizesThrough: 4 },
    { thought: "Done.", thoughtNumber: 6, totalThoughts: 6, nextThoughtNeeded: false },
  ]));
  const aside = await card.frame.locator("li.aside").evaluateAll((rows) => rows.map((row) => row.dataset.ordinal).join(" "));
  assert.equal(aside, "2 4");
  const labels = await card.frame.locator("li.row .line > .vh").allTextContents();
  assert.match(labels[2], /on branch side, hanging/);
  assert.match(labels[4], /revises 2/);
  assert.match(labels[5], /sums up to 4/);
});

scene("shows a correction as a difference of words, or old above new", {}, async (host) => {
  const card = await mountStory(host, cart);
  await card.frame.getByRole("button", { name: /^Step 4, revises 3/ }).click();
  assert.deepEqual(await card.frame.locator("del").allTextContents(), ["3", "99", "100"]);
  assert.deepEqual((await card.frame.locator("ins").allTextContents()).slice(0, 3), ["6.4", "999", "1,000"]);
  assert.match(await card.frame.locator("li.open .prose").first().textContent(), /for 3 6\.4 s after/);
  await card.frame.getByRole("button", { name: /^Step 6, revises 5/ }).click();
  assert.equal(await card.frame.locator(".struck").count(), 1);
});

scene("goes from a correction to what it corrects, and lights both up", {}, async (host) => {
  const card = await mountStory(host, cart);
  await card.frame.getByRole("button", { name: "revises 5", exact: true }).hover();
  assert.deepEqual(await card.frame.locator("li.linked").evaluateAll((rows) => rows.map((row) => row.dataset.ordinal)), ["9", "10"]);
  assert.ok(await card.frame.locator(".arc.hot").count() > 1);
  await card.frame.getByRole("button", { name: "revises 5", exact: true }).click();
  assert.equal(await card.frame.evaluate(() => document.activeElement.closest("li").dataset.ordinal), "9");
});

scene("finds steps and marks what it found", {}, async (host) => {
  const card = await mountStory(host, cart);
  const search = card.frame.getByLabel("Search steps");
  await search.fill("PRICING job");
  assert.deepEqual(await card.frame.locator("li.row").evaluateAll((rows) => rows.map((row) => row.dataset.ordinal)), ["9", "10"]);
  assert.deepEqual(await card.frame.locator("mark").allTextContents(), ["pricing job", "pricing job"]);
  assert.equal(await card.frame.getByRole("status").textContent(), "2 steps found");
  assert.ok(await search.evaluate((input) => input === document.activeElement), "focus stays");
  await search.fill("");
  assert.equal(await card.frame.locator("li.row").count(), 12);
});

scene("is worked by keyboard alone", {}, async (host) => {
  const card = await mountStory(host, cart);
  const at = () => card.frame.evaluate(() => document.activeElement.closest("li")?.dataset.ordinal);
  const press = (key) => host.page.keyboard.press(key);
  await card.frame.locator("li.row .line").first().focus();
  for (const [key, ordinal] of [["ArrowDown", "2"], ["ArrowDown", "3"], ["ArrowUp", "2"], ["End", "12"], ["ArrowDown", "12"], ["Home", "1"], ["ArrowUp", "1"]]) {
    await press(key);
    assert.equal(await at(), ordinal, key);
  }
  await press("Enter");
  const line = card.frame.locator("li.row .line").first();
  assert.equal(await line.getAttribute("aria-expanded"), "true");
  assert.equal(await at(), "1");
  await press("Space");
  assert.equal(await line.getAttribute("aria-expanded"), "false");
  const reached = new Set();
  for (let tab = 0; tab < 25; tab++) {
    await press("Tab");
    reached.add(await card.frame.evaluate(() => document.activeElement.textContent || document.activeElement.placeholder));
  }
  assert.ok([...reached].some((text) => text.includes("revised in 4")), "links between steps are reached");
});

scene("copies Markdown: with permission, without, and as a file where nothing else is left", { permissions: ["clipboard-read", "clipboard-write"] }, async (host) => {
  const allowed = await mountStory(host, cart, { permissions: { clipboardWrite: {} } });
  await allowed.frame.getByRole("button", { name: "Copy" }).click();
  await until(allowed, "Copied");
  const markdown = await host.page.evaluate(() => navigator.clipboard.readText());
  assert.match(markdown, /^# Thinking process\n12 steps, 2 branches, 2 revisions\n/);
  assert.match(markdown, /## Step 4, revises 3\n\nSo the refresh/);
  assert.match(markdown, /## Conclusion, step 8\n\nReturn the log position/);
  assert.doesNotMatch(markdown, /seq_/);
  const shut = html.replace("<head>", "<head><script>document.execCommand=()=>false;navigator.clipboard.writeText=()=>Promise.reject(new Error('NotAllowedError'))</script>");
  const server = { html: shut, capabilities: { downloadFile: {} } };
  const download = await mountStory(host, cart, server);
  await download.frame.getByRole("button", { name: "Copy" }).click();
  await until(download, "Saved");
  const { downloads } = await download.facts();
  assert.equal(downloads[0].contents[0].resource.text, markdown);
  const nothing = await mountStory(host, cart, { html: shut });
  await nothing.frame.getByRole("button", { name: "Copy" }).click();
  await until(nothing, "Copying is not allowed here");
});

scene("copies without the permission through a selection", { scheme: "dark" }, async (host) => {
  const denied = html.replace("<head>", "<head><script>navigator.clipboard.writeText=()=>Promise.reject(new Error('NotAllowedError'))</script>");
  const card = await mountStory(host, cart, { html: denied });
  await card.frame.getByRole("button", { name: "Copy" }).click();
  await until(card, "Copied");
});

scene("fills the screen where the host offers it, and comes back", {}, async (host) => {
  const inline = await mountStory(host, cart);
  assert.equal(await inline.frame.getByRole("button", { name: "Full screen" }).count(), 0, "not offered, not shown");
  const card = await mountStory(host, serve(longStory(60)), { context: { availableDisplayModes: ["inline", "fullscreen"], displayMode: "inline" } });
  await card.frame.getByRole("button", { name: "Full screen" }).click();
  await card.frame.locator(".roomy").waitFor();
  assert.equal(await card.frame.locator("li.row").count(), 60);
  await card.frame.getByRole("button", { name: "option-1", exact: true }).click();
  const kept = await card.frame.locator("li.row").count();
  assert.ok(kept > 1 && kept < 10, `${kept} steps of one branch`);
  await card.context({ displayMode: "inline" });
  await card.frame.locator(".process:not(.roomy)").waitFor();
  await host.call("setMode", card.index, "inline");
  assert.ok(await card.height() <= 500);
});

scene("follows the host's theme whatever the system's is", { scheme: "light" }, async (host) => {
  await checkTheme(host, "dark");
});

scene("follows a light host on a dark system", { scheme: "dark" }, async (host) => {
  await checkTheme(host, "light");
});

async function checkTheme(host, theme) {
  const variables = { "--color-text-primary": "light-dark(#111111, #eeeeee)", "--color-background-primary": "light-dark(#ffffff, #212121)",
    "--app": "red", "--color-x": "url(https://example.invalid/x)", "--font-sans": "x".repeat(300), "--color-;}": "red" };
  const card = await mountStory(host, cart, { context: { theme, styles: { variables } } });
  const colours = await card.frame.evaluate(() => {
    const style = getComputedStyle(document.getElementById("card"));
    return [style.color, style.backgroundColor, getComputedStyle(document.documentElement).backgroundColor,
      style.getPropertyValue("--app"), style.getPropertyValue("--font-sans")];
  });
  const [ink, surface] = theme === "dark" ? ["rgb(238, 238, 238)", "rgb(33, 33, 33)"] : ["rgb(17, 17, 17)", "rgb(255, 255, 255)"];
  assert.deepEqual(colours, [ink, surface, surface, "", ""]);
  await card.context({ theme: theme === "dark" ? "light" : "dark" });
  await card.ping();
  const after = await card.frame.evaluate(() => getComputedStyle(document.getElementById("card")).backgroundColor);
  assert.notEqual(after, surface, "a partial context changes the theme and keeps the rest");
  await card.context({ locale: "de-DE" });
  await card.ping();
  assert.equal(await card.frame.evaluate(() => getComputedStyle(document.getElementById("card")).backgroundColor), after);
  assert.deepEqual(await card.violations(), []);
}

const hostile = [
  { thought: '<img src=x onerror="document.title=\'owned\'"> <script>document.title="owned"</script> & "quotes"', branchId: undefined, totalThoughts: 7 },
  { thought: "evil \u202egnp.exe and \u2066hidden\u2069 marks\u0000\u0007", totalThoughts: 7 },
  { thought: "Name", branchId: `"><svg onload=alert(1)>${"n".repeat(104)}`, branchFromThought: 1, thoughtNumber: 2, totalThoughts: 7 },
  { thought: "هذا تفكير باللغة العربية: السؤال الأول هو ما الذي تغير.", totalThoughts: 7 },
  { thought: "先看日志，再看指标。数据库没有变慢，是客户端重试太多。👩‍💻 한국어도 됩니다。", totalThoughts: 7 },
  { thought: `${"unbreakable".repeat(40)} https://example.invalid/${"path/".repeat(60)}`, totalThoughts: 7 },
  { thought: `${"A long conclusion that goes on and on. ".repeat(512)}`, totalThoughts: 7, nextThoughtNeeded: false },
];

scene("is inert and whole with hostile and foreign text under Trusted Types, from 320 to 1,200 pixels", {}, async (host) => {
  const server = serve(hostile);
  for (const width of [320, 480, 1200]) {
    const card = await mountStory(host, server, { width, trustedTypes: true });
    assert.ok(await card.height() <= 500, `${await card.height()} px at ${width}`);
    assert.ok(await wide(card) <= 0, `no side scroll at ${width}`);
    await card.frame.getByRole("button", { name: "Expand all" }).click();
    await card.settle();
    assert.ok(await wide(card) <= 0, `no side scroll at ${width} when open`);
    assert.equal(await card.frame.evaluate(() => document.title), "Thinking process");
    assert.equal(await card.frame.locator("img, svg[onload], #card script").count(), 0);
    const text = await card.text();
    assert.doesNotMatch(text, /[\u202a-\u202e\u2066-\u2069\u0000\u0007]/);
    assert.match(text, /evil \ufffdgnp\.exe/);
    assert.match(text, /👩‍💻/u);
    const arabic = card.frame.locator(".prose", { hasText: "العربية" });
    assert.equal(await arabic.evaluate((block) => getComputedStyle(block).direction), "rtl");
    await card.frame.getByRole("button", { name: /Show all 19,968 characters/ }).click();
    assert.equal(await card.frame.getByRole("button", { name: "Show less" }).count(), 1);
    assert.deepEqual(await card.violations(), []);
  }
  const step = await mountStory(host, server, { at: 2, width: 320 });
  assert.ok(await wide(step) <= 0, "no side scroll in a step card");
});

scene("stays small for a step of 20,000 characters", {}, async (host) => {
  const server = serve([{ thought: "word ".repeat(4000).trim() }, { thought: "end", nextThoughtNeeded: false }]);
  const card = await mountStory(host, server, { at: 0 });
  assert.ok(await card.height() < 280, `${await card.height()} px`);
  await card.frame.getByRole("button", { name: /Show all 19,999 characters/ }).click();
  await card.settle();
  assert.ok(await card.height() > 1000);
});

for (const scheme of ["light", "dark"]) {
  scene(`passes the audit of accessibility in every state, ${scheme}`, { scheme, permissions: [] }, async (host) => {
    const context = { theme: scheme };
    const states = [
      ["waiting", async (card) => until(card, "Waiting")],
      ["thinking", async (card) => { await card.partial({ thought: "Half a thou" }); await until(card, "Half"); }],
      ["step", async (card) => { await card.input(cart.calls[3]); await card.result(cart.results[3]); await until(card, "revises 3"); }],
      ["branch", async (card) => { await card.input(cart.calls[4]); await card.result(cart.results[4]); await until(card, "log-position"); }],
      ["cancelled", async (card) => { await card.input(cart.calls[3]); await card.cancel("x"); await until(card, "Cancelled"); }],
      ["failed", async (card) => { await card.input(cart.calls[3]); await card.result({ isError: true, content: [{ type: "text", text: "branch_not_found" }] }); await until(card, "Failed"); }],
    ];
    for (const [what, act] of states) {
      const card = await host.mount({ html, context });
      await act(card);
      await audit(card, what);
    }
    const closed = await host.mount({ html, context, capabilities: { serverTools: undefined } });
    await closed.input(cart.calls.at(-1));
    await closed.result(cart.results.at(-1));
    await until(closed, "does not let");
    await audit(closed, "closed");
    const refused = await host.mount({ html, context, history: () => { throw new Error("no"); } });
    await refused.input(cart.calls.at(-1));
    await refused.result(cart.results.at(-1));
    await until(refused, "Try again");
    await audit(refused, "refused");
    const final = await mountStory(host, cart, { context });
    await audit(final, "final");
    await final.frame.getByLabel("Search steps").fill("cart");
    await audit(final, "search");
    await final.frame.getByLabel("Search steps").fill("");
    await final.frame.getByRole("button", { name: "Expand all" }).click();
    await audit(final, "expanded");
    const folded = await mountStory(host, serve(longStory(80)), { context, width: 360 });
    await audit(folded, "folded and narrow");
    await folded.context({ displayMode: "fullscreen" });
    await folded.frame.locator(".roomy").waitFor();
    await audit(folded, "full screen");
  });
}

scene("serves forced colours and reduced motion", { contrast: "active", motion: "reduce" }, async (host) => {
  const card = await mountStory(host, cart);
  const stroke = await card.frame.locator(".rail line").first().evaluate((line) => getComputedStyle(line).stroke);
  const ink = await card.frame.evaluate(() => { document.body.style.color = "CanvasText"; return getComputedStyle(document.body).color; });
  assert.equal(stroke, ink);
  const thinking = await host.mount({ html });
  assert.equal(await thinking.frame.locator(".node").evaluate((node) => getComputedStyle(node).animationName), "none");
});

scene("prints everything", { scheme: "light", width: 1000 }, async (host) => {
  const card = await mountStory(host, serve(longStory(60)));
  await card.frame.evaluate(() => window.dispatchEvent(new Event("beforeprint")));
  await host.page.emulateMedia({ media: "print" });
  assert.equal(await card.frame.locator("li.row .body").count(), 60);
  assert.equal(await card.frame.locator(".tools").isVisible(), false);
});

scene("survives 200 % zoom and a frame of 160 pixels", {}, async (host) => {
  const card = await mountStory(host, cart, { width: 320 });
  await card.frame.evaluate(() => { document.documentElement.style.zoom = "2"; });
  assert.ok(await wide(card) <= 1, `${await wide(card)} px of side scroll`);
});

scene("draws 1,000 steps of ten pages, and toggles one", {}, async (host) => {
  const server = serve(longStory(1000));
  const card = await mountStory(host, server);
  assert.equal((await card.facts()).calls.length, 10);
  assert.ok(await card.height() <= 500);
  // From the last page to the height of the drawing, as the host sees it.
  const { log } = await card.facts();
  const arrived = log.findLast((entry) => entry.message.result?.structuredContent?.thoughts).at;
  const drawn = log.find((entry) => entry.at > arrived && entry.message.method === "ui/notifications/size-changed").at;
  const figures = await card.frame.evaluate(async () => {
    const frame = () => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
    const measure = async (act) => {
      const start = performance.now();
      act();
      document.body.getBoundingClientRect();
      const work = performance.now() - start;
      await frame();
      return Math.round(work);
    };
    const press = (name) => [...document.querySelectorAll("button")].find((button) => button.textContent === name).click();
    const folded = await measure(() => document.querySelector("li.row .line").click());
    const unfold = await measure(() => press("Expand all"));
    const toggle = await measure(() => document.querySelectorAll("li.row .line")[500].click());
    const search = document.querySelector("input");
    const find = await measure(() => { search.value = "latency"; search.dispatchEvent(new Event("input")); });
    return { folded, unfold, toggle, find };
  });
  console.log(`1,000 steps: drawn ${drawn - arrived} ms after the last page, toggle while folded ${figures.folded} ms, expand all ${figures.unfold} ms, toggle among all ${figures.toggle} ms, search ${figures.find} ms`);
});
