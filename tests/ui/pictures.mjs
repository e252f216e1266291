// Draws the pictures of the README with the card as it is: `node tests/ui/pictures.mjs`, from the repository's root.

import { builtPage, openBrowser, openHost, serveHost } from "./harness.mjs";
import { cartStory, serve } from "./stories.mjs";

const html = builtPage();
const story = serve(cartStory);
const last = story.calls.length - 1;
const browser = await openBrowser();
const served = await serveHost();

for (const theme of ["light", "dark"]) {
  const host = await openHost(browser, served, { scheme: theme, width: 760 });
  const card = await host.mount({ html, context: { theme }, history: (params) => story.history(params.arguments) });
  await card.input(story.calls[last]);
  await card.result(story.results[last]);
  await card.frame.locator(".process").waitFor();
  await card.settle();
  await card.picture(`docs/card-${theme}.png`);
  await host.close();
}
served.close();
await browser.close();
