// Twelve scenes of the card, for snapshots and for pictures.

import { cartStory, longStory, serve } from "./stories.mjs";

const cart = serve(cartStory);
const last = cart.calls.length - 1;

const rewound = serve([
  { thought: "The page takes four seconds. Begin with what changed on Monday.", totalThoughts: 5 },
  { thought: "The database moved to another zone.", totalThoughts: 5 },
  { thought: "Count the round trips instead: 40 for one page.", branchId: "round-trips", branchFromThought: 2, thoughtNumber: 3, totalThoughts: 5 },
  { thought: "A zone costs 1 ms a round trip, so 40 of them explain nothing.", thoughtNumber: 3, totalThoughts: 5 },
  { thought: "Nothing moved: the ticket is from last year. What changed is the template cache.", thoughtNumber: 4, totalThoughts: 6, isRevision: true, revisesThought: 2, rewind: true },
  { thought: "So far: no move, no zone; the template cache is off since Monday.", thoughtNumber: 5, totalThoughts: 6, summarizesThrough: 4 },
  { thought: "Turn the template cache on again and alert on its hit rate.", thoughtNumber: 6, totalThoughts: 6, nextThoughtNeeded: false },
]);

const foreign = serve([
  { thought: "السؤال الأول: ما الذي تغير منذ يوم الاثنين؟", totalThoughts: 3 },
  { thought: "先看日志，再看指标。数据库没有变慢，是客户端重试太多。", totalThoughts: 3 },
  { thought: "結論：リトライの回数を制限し、間隔を倍にする。 👩‍💻", totalThoughts: 3, nextThoughtNeeded: false },
]);

// Each mounts one card on `host` and resolves with it when it is drawn.
async function process(mount, server, options = {}) {
  const card = await mount({ history: (params) => server.history(params.arguments), ...options });
  await card.input(server.calls.at(-1));
  await card.result(server.results.at(-1));
  await card.frame.locator(".process").waitFor();
  return card;
}

async function step(mount, at, { result = cart.results[at], ...options } = {}) {
  const card = await mount(options);
  await card.input(cart.calls[at]);
  if (result) {
    await card.result(result);
  }
  await card.frame.locator(".step").waitFor();
  return card;
}

export const scenes = {
  step: (mount) => step(mount, 1),
  revision: (mount) => step(mount, 3),
  branch: (mount) => step(mount, 4),
  async thinking(mount) {
    const card = await mount({});
    await card.partial({ thought: "Customers in Sydney see an empty cart" });
    await card.frame.locator(".step.thinking").waitFor();
    return card;
  },
  async cancelled(mount) {
    const card = await step(mount, 3, { result: null });
    await card.cancel("user action");
    await card.frame.locator(".step.cancelled").waitFor();
    return card;
  },
  failed: (mount) => step(mount, 3, {
    result: { isError: true, content: [{ type: "text", text: "revision_target_not_found (input, retry: fix_input): there is no thought 3; there are 1 and 2." }] },
  }),
  closed: (mount) => step(mount, last, { capabilities: { serverTools: undefined } }),
  process: (mount) => process(mount, cart),
  async corrections(mount) {
    const card = await process(mount, cart);
    await card.frame.getByRole("button", { name: /^Step 4, revises 3/ }).click();
    await card.frame.getByRole("button", { name: /^Step 6, revises 5/ }).click();
    return card;
  },
  rewound: (mount) => process(mount, rewound),
  async found(mount) {
    const card = await process(mount, cart);
    await card.frame.getByLabel("Search steps").fill("cart");
    return card;
  },
  foreign: (mount) => process(mount, foreign, { width: 320 }),
};

// Which rows a folded process shows depends on the height of lines, so this is for pictures only.
export const folded = (mount) => process(mount, serve(longStory(300)));

// The chain of the story as a chat shows it: a card for each step.
export async function chain(mount) {
  const cards = [];
  for (const at of [0, 3, 4]) {
    cards.push(await step(mount, at));
  }
  cards.push(await process(mount, cart));
  return cards;
}
