// Draws the card as it is: `node tests/ui/pictures.mjs` the pictures of the README, `node tests/ui/pictures.mjs FOLDER`
// every scene in both themes, to look at. From the repository's root.

import { mkdirSync } from "node:fs";
import { builtPage, openBrowser, openHost, serveHost } from "./harness.mjs";
import { chain, folded, scenes } from "./scenes.mjs";

const [folder = "docs"] = process.argv.slice(2);
const wanted = process.argv[2] ? { chain, folded, ...scenes } : { chain };
const html = builtPage();
const browser = await openBrowser();
const served = await serveHost();
mkdirSync(folder, { recursive: true });
for (const theme of ["light", "dark"]) {
  const host = await openHost(browser, served, { scheme: theme, width: 800, scale: 1.5 });
  const ground = theme === "dark" ? "#1f1f22" : "#fff";
  await host.page.evaluate((colour) => { document.body.style.background = colour; }, ground);
  const mount = (options) => host.mount({ html, context: { theme }, ...options });
  for (const [name, play] of Object.entries(wanted)) {
    await host.call("clear");
    const cards = [await play(mount)].flat();
    await Promise.all(cards.map((card) => card.settle()));
    await host.page.mouse.move(790, 2900);
    const { bottom, right } = await host.page.evaluate(() => document.querySelector("iframe:last-of-type").getBoundingClientRect());
    await host.page.screenshot({ path: `${folder}/${name}-${theme}.png`, clip: { x: 0, y: 0, width: right + 16, height: bottom + 16 } });
  }
  await host.close();
}
served.close();
await browser.close();
