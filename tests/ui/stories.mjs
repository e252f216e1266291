// Thinking processes for the scenes, and what a server of these tools answers for them. Written once here so that the
// scenes which must not depend on a running Worker (hostile data, lost answers, odd orders) have results of its shape.

const META = "io.github.durable-thinking/card";

export const cartStory = [
  { thought: "Customers in Sydney see an empty cart after a refresh; customers in Frankfurt never do. What differs is the region, so begin with where a cart is written and where it is read.", totalThoughts: 8 },
  { thought: "Writes go to the primary in Frankfurt, reads to the nearest replica. The one in Sydney trails by 340 ms at the median and by 2.1 s at the 99th percentile.", totalThoughts: 8 },
  { thought: "So the refresh reads before the write has arrived. Pinning a session to the primary for 3 s after a write hides the lag in 99 of 100 refreshes.", totalThoughts: 8 },
  { thought: "So the refresh reads before the write has arrived. Pinning a session to the primary for 6.4 s after a write hides the lag in 999 of 1,000 refreshes, and costs Sydney 290 ms a read.", totalThoughts: 8, isRevision: true, revisesThought: 3 },
  { thought: "No timer at all: return the log position with each write, and let the replica wait until it has caught up to it.", thoughtNumber: 5, totalThoughts: 8, branchId: "log-position", branchFromThought: 4 },
  { thought: "Measured on staging: the first read after a write waits 310 ms at the median, later reads not at all. No stale cart in 40,000 tries.", thoughtNumber: 6, totalThoughts: 8, branchId: "log-position", nextThoughtNeeded: false },
  { thought: "Or keep the cart in the edge cache for as long as the session lives, and write through it.", thoughtNumber: 5, totalThoughts: 8, branchId: "edge-cache", branchFromThought: 4 },
  { thought: "Two tabs that reach two data centres disagree for up to 30 s. That is the same fault under another name, so this leads nowhere.", thoughtNumber: 6, totalThoughts: 8, branchId: "edge-cache" },
  { thought: "The log position wins, but the pricing job also writes carts and knows no session. Its writes would still be read too early.", thoughtNumber: 5, totalThoughts: 8 },
  { thought: "The pricing job never touches the list of items. It writes a column of its own, which the page may show late without harm.", thoughtNumber: 6, totalThoughts: 8, isRevision: true, revisesThought: 5 },
  { thought: "What is left is the client: it has to keep the position for a second tab. A session cookie of 16 bytes does that, and an old client without it falls back to the primary.", thoughtNumber: 7, totalThoughts: 8, needsMoreThoughts: true },
  { thought: "Return the log position with every write; replicas wait for it 800 ms at most, then ask the primary. All tabs share it in a cookie. No timer, no edge cache.", thoughtNumber: 8, totalThoughts: 8, nextThoughtNeeded: false },
];

// Fills in what a model would send: numbers, the wish to go on, and (but for the first call) the sequence's id.
export function callsOf(story, sequenceId = "seq_0123456789abcdefghjkmnpqrs") {
  const numbers = new Map();
  return story.map((step, index) => {
    const branch = step.branchId ?? "main";
    const thoughtNumber = step.thoughtNumber ?? (numbers.get(branch) ?? 0) + 1;
    numbers.set(branch, thoughtNumber);
    return {
      nextThoughtNeeded: true, thoughtNumber, totalThoughts: story.length, ...step,
      ...(index ? { sequenceId } : {}),
    };
  });
}

// A server of these tools with one sequence, in memory: `results[i]` answers the i-th call, `history()` a page.
export function serve(story, { sequenceId = "seq_0123456789abcdefghjkmnpqrs", pageLimit = 100 } = {}) {
  const calls = callsOf(story, sequenceId);
  const branches = [{ id: "main", index: 0, parent: null }];
  const thoughts = [];
  const results = calls.map((call, at) => {
    const branchId = call.branchId ?? "main";
    const find = (number, branch) => thoughts.findLast((t) => t.thoughtNumber === number && (t.branchId ?? "main") === branch)
      ?? thoughts.findLast((t) => t.thoughtNumber === number);
    let branch = branches.find((known) => known.id === branchId);
    if (!branch) {
      const parent = call.branchFromBranchId ?? "main";
      const fork = find(call.branchFromThought, parent);
      branch = {
        id: branchId, index: branches.length, parent,
        fork: { branchId: fork?.branchId ?? "main", ordinal: fork?.ordinal, thoughtNumber: call.branchFromThought },
      };
      branches.push(branch);
    }
    const target = call.isRevision ? find(call.revisesThought, branchId) : undefined;
    const thought = {
      ordinal: at + 1, thoughtNumber: call.thoughtNumber, totalThoughts: call.totalThoughts, thought: call.thought,
      createdAt: new Date(Date.UTC(2026, 10, 30, 9, 0, at * 7)).toISOString(),
      ...(branchId === "main" ? {} : { branchId }),
      ...(call.nextThoughtNeeded ? {} : { nextThoughtNeeded: false }),
      ...(target ? { isRevision: true, revisesThought: call.revisesThought,
        revised: { branchId: target.branchId ?? "main", ordinal: target.ordinal } } : {}),
      ...(call.rewind ? { rewind: true } : {}),
      ...(call.summarizesThrough ? { summarizesThrough: call.summarizesThrough } : {}),
      ...(branch.fork && !thoughts.some((t) => t.branchId === branchId) ? { branchFromThought: call.branchFromThought } : {}),
    };
    if (call.rewind && target) {
      thoughts.filter((t) => (t.branchId ?? "main") === (target.branchId ?? "main") && t.ordinal >= target.ordinal)
        .forEach((t) => { t.superseded = true; });
    }
    thoughts.push(thought);
    return {
      content: [{ type: "text", text: `Thought ${call.thoughtNumber}/${call.totalThoughts}\n\n${call.thought}\n\nSequence: ${sequenceId} · ${at + 1} thoughts stored` }],
      structuredContent: {
        sequenceId, thoughtNumber: call.thoughtNumber, totalThoughts: call.totalThoughts, thoughtHistoryLength: at + 1,
        ...(branchId === "main" ? {} : { branchId }),
        ...(call.nextThoughtNeeded ? {} : { completed: true }),
      },
      _meta: {
        [META]: {
          ordinal: at + 1,
          branch,
          ...(target ? { isRevision: true, revises: { branchId: target.branchId ?? "main", ordinal: target.ordinal, thoughtNumber: target.thoughtNumber } } : {}),
          ...(call.rewind ? { rewind: true } : {}),
          ...(thought.branchFromThought ? { forks: true } : {}),
          ...(call.summarizesThrough ? { summarizesThrough: call.summarizesThrough } : {}),
          branches: branches.length,
          nextThoughtNeeded: call.nextThoughtNeeded,
        },
      },
    };
  });
  const facts = branches.slice(1).map((branch) => {
    const own = thoughts.filter((t) => t.branchId === branch.id);
    const completed = own.some((t) => t.nextThoughtNeeded === false);
    return {
      branchId: branch.id, parentBranchId: branch.parent, branchFromThought: branch.fork.thoughtNumber,
      forkOrdinal: branch.fork.ordinal, thoughts: own.length, ...(completed ? { completed: true } : {}),
    };
  });
  function history({ limit = 50, cursor }) {
    const from = cursor ? Number(cursor.slice(1)) : 0;
    const to = Math.min(from + Math.min(limit, pageLimit), thoughts.length);
    return {
      content: [{ type: "text", text: "history" }],
      structuredContent: {
        sequence: {
          sequenceId, title: thoughts[0].thought.slice(0, 80), completed: true, thoughtHistoryLength: thoughts.length,
          ...(from ? {} : { branches: facts }),
        },
        thoughts: thoughts.slice(from, to),
        ...(to < thoughts.length ? { nextCursor: `c${to}` } : {}),
      },
    };
  }
  return { sequenceId, calls, results, history };
}

// A process of `count` steps with a branch every 25 steps and a correction every 9.
export function longStory(count, characters = 160) {
  const story = [];
  const words = "measure compare replica cart session latency primary cookie region window budget trace".split(" ");
  let main = 0;
  for (let at = 0; at < count; at++) {
    const text = Array.from({ length: Math.ceil(characters / 8) }, (_, index) => words[(at * 7 + index * 5) % words.length]).join(" ");
    const thought = `Step ${at + 1}: ${text}.`;
    const inBranch = at > 10 && at % 25 >= 20 && at < count - 6;
    if (inBranch) {
      const branchId = `option-${Math.floor(at / 25) + 1}`;
      const first = at % 25 === 20;
      story.push({ thought, branchId, thoughtNumber: main + 1 + (at % 25) - 20, totalThoughts: count, ...(first ? { branchFromThought: main } : {}) });
    } else {
      main++;
      const revises = at % 9 === 8 && main > 2 && at < count - 1 ? main - 2 : undefined;
      story.push({ thought, thoughtNumber: main, totalThoughts: count, nextThoughtNeeded: at < count - 1,
        ...(revises ? { isRevision: true, revisesThought: revises } : {}) });
    }
  }
  return story;
}
