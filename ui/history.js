// Reads the sequence of a final card through the host, page by page.

import { request } from "./bridge.js";
import { readPage } from "./read.js";

const PAGES_MAX = 20;
const HISTORY_MAX = 1000;

// Resolves with `{ steps, branches }` of the first `length` steps. Rejects with `refused` set when somebody said no.
export async function loadHistory(sequenceId, length) {
  const steps = [];
  let branches = [];
  let cursor;
  for (let page = 0; page < PAGES_MAX; page++) {
    const limits = { sequenceId, limit: 100, order: "asc", maxCharacters: 250000 };
    const answer = await request("tools/call", {
      name: "get_thought_history",
      arguments: cursor ? { ...limits, cursor } : limits,
    }, 20000);
    const read = readPage(answer);
    steps.push(...read.steps);
    branches = page === 0 ? read.branches : branches;
    // A server that hands the same cursor out again would keep us for ever.
    if (!read.cursor || read.cursor === cursor || steps.length >= Math.min(length, HISTORY_MAX)) {
      break;
    }
    cursor = read.cursor;
  }
  return { steps: steps.slice(0, HISTORY_MAX), branches };
}
