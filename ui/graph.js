// The shape of a process: which lane each branch runs in, what is revised or superseded, and the path to the conclusion.
// Values in, values out; draws nothing.

import { MAIN } from "./read.js";

const LANES_MAX = 6;

// Adds to each step (in order of writing) what the drawing needs, and returns
// `{ steps, branches, lanes, edges }`. `edges[i]` are the lines that cross from step i - 1 to step i.
// `length` is how many steps the process had when its card was drawn; it may have grown since.
export function buildGraph(allSteps, branchList, end, length) {
  const seen = new Map(allSteps.map((step) => [step.ordinal, { ...step }]));
  const steps = [...seen.values()].sort((a, b) => a.ordinal - b.ordinal).filter((step) => step.ordinal <= length);
  const grown = allSteps.some((step) => step.ordinal > length);
  steps.forEach((step, index) => Object.assign(step, { index, arcs: [], forks: [] }));
  const byOrdinal = new Map(steps.map((step) => [step.ordinal, step]));
  const branches = collectBranches(steps, branchList, byOrdinal);
  linkRevisions(steps, byOrdinal, branches, grown);
  const conclusion = byOrdinal.get(end) ?? steps.at(-1);
  markPath(conclusion, branches);
  const lanes = assignLanes(branches);
  for (const step of steps) {
    const branch = branches.get(step.branch);
    Object.assign(step, { lane: branch.lane, colour: branch.colour, opens: branch.first === step && step.branch !== MAIN });
    step.hangs = branch.first === step && hangs(branch, branches);
    step.concludes = step === conclusion;
  }
  return { steps, conclusion, branches: [...branches.values()], lanes, edges: drawEdges(steps, branches) };
}

export function laneColour(index) {
  return index === undefined ? "c9" : index === 0 ? "c0" : `c${1 + ((index - 1) % 7)}`;
}

function collectBranches(steps, list, byOrdinal) {
  const known = new Map(list.map((branch) => [branch.id, branch]));
  // The server's order gives the colours, so that step cards and final card agree.
  const names = [MAIN, ...known.keys(), ...steps.map((step) => step.branch)];
  const branches = new Map();
  for (const id of new Set(names)) {
    const own = steps.filter((step) => step.branch === id);
    const fact = known.get(id) ?? {};
    const colour = laneColour(branches.size);
    branches.set(id, { id, colour, own, first: own[0], last: own.at(-1), fact, on: false, until: -1 });
  }
  for (const branch of branches.values()) {
    const { fact, first, id } = branch;
    branch.fork = id === MAIN || !first ? undefined
      : byOrdinal.get(fact.forkOrdinal) ?? resolveFork(steps, first, fact.forkNumber ?? first.forkNumber, fact.parent);
    if (branch.fork && branch.fork.index >= first.index) {
      branch.fork = undefined;
    }
  }
  return branches;
}

// A branch whose beginning was set aside hangs in the air, and so do the branches that leave it.
function hangs({ fork }, branches) {
  return Boolean(fork && (fork.superseded || hangs(branches.get(fork.branch), branches)));
}

// The newest step of that number which stood before the branch began, in the parent if it is known.
function resolveFork(steps, first, number, parent) {
  const before = steps.filter((step) => step.index < first.index && step.number === number && step.branch !== first.branch);
  return before.findLast((step) => step.branch === (parent ?? MAIN)) ?? before.at(-1);
}

function linkRevisions(steps, byOrdinal, branches, grown) {
  for (const step of steps) {
    if (grown) {
      step.superseded = false;
    }
    if (!step.isRevision) {
      continue;
    }
    const target = byOrdinal.get(step.target)
      ?? steps.findLast((other) => other.index < step.index && other.number === step.revises && other.branch === step.branch);
    if (!target || target.index >= step.index) {
      continue;
    }
    step.revisionOf = target;
    target.revisedBy = step;
    if (step.rewind) {
      for (const other of branches.get(target.branch).own) {
        other.superseded ||= other.index >= target.index && other.index < step.index;
      }
    }
  }
}

// From the conclusion back through the forks to the first step.
function markPath(conclusion, branches) {
  let until = conclusion;
  let branch = branches.get(conclusion?.branch);
  while (branch && !branch.on) {
    branch.on = true;
    branch.until = until.index;
    for (const step of branch.own) {
      step.onPath = step.index <= until.index && !step.revisedBy && !step.superseded;
    }
    until = branch.fork;
    branch = branches.get(until?.branch);
  }
}

// Interval colouring: a lane is free again below the last step of its branch. Branches beyond the last lane share it.
function assignLanes(branches) {
  const ends = [Infinity];
  branches.get(MAIN).lane = 0;
  const start = (branch) => (branch.fork ?? branch.first).index;
  const others = [...branches.values()].filter((branch) => branch.id !== MAIN && branch.first);
  others.sort((a, b) => start(a) - start(b) || a.first.index - b.first.index);
  for (const branch of others) {
    let lane = ends.findIndex((end) => end < start(branch));
    if (lane < 0) {
      lane = Math.min(ends.length, LANES_MAX - 1);
      if (ends.length === LANES_MAX) {
        branch.fork = undefined;
      }
    }
    branch.lane = lane;
    ends[lane] = branch.last.index;
  }
  return ends.length;
}

function drawEdges(steps, branches) {
  const edges = Array.from({ length: steps.length + 1 }, () => []);
  for (const { id, lane, colour, fork, first, last, on, until } of branches.values()) {
    if (!first) {
      continue;
    }
    const start = (fork ?? first).index;
    for (let index = start; index < last.index; index++) {
      edges[index + 1].push({ key: id, lane, colour, strong: on && index < until });
    }
    fork?.forks.push(id);
  }
  for (const step of steps) {
    const target = step.revisionOf;
    if (target && target.lane === step.lane) {
      const arc = { key: `${target.ordinal}-${step.ordinal}`, lane: step.lane };
      target.arcs.push({ ...arc, down: true });
      step.arcs.push({ ...arc, down: false });
      for (let index = target.index + 1; index <= step.index; index++) {
        edges[index].push({ ...arc, arc: true });
      }
    }
  }
  return edges;
}
