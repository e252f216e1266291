// Turns what hosts and servers send into values of known shape. Every field may be missing, wrongly typed or hostile.

const META = "io.github.durable-thinking/card";
// In UTF-16 units: a thought of 20,000 characters may be twice as long.
const THOUGHT_MAX = 40000;
const NAME_MAX = 128;
const STEPS_MAX = 1000;
// Controls, and marks which reorder the text around them.
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

export const MAIN = "main";

export function readText(value, max = THOUGHT_MAX) {
  if (typeof value !== "string") {
    return "";
  }
  // Twice the limit: line ends are joined first, and a cut must not split a surrogate pair.
  let text = value.slice(0, max * 2).replace(/\r\n?/g, "\n").replace(HIDDEN, "\ufffd");
  if (text.length > max) {
    text = text.slice(0, max).replace(/[\ud800-\udbff]$/, "") + "…";
  }
  return text;
}

// A name is trimmed, holds no line break and is never empty.
function readName(value) {
  return readText(value, NAME_MAX).replace(/\s+/g, " ").trim() || undefined;
}

// Models send "3" for 3, and the server takes it.
function readCount(value) {
  const count = typeof value === "string" && /^\d{1,7}$/.test(value) ? Number(value) : value;
  return Number.isSafeInteger(count) && count > 0 ? count : undefined;
}

function readFlag(value) {
  const word = typeof value === "string" ? value.toLowerCase() : value;
  return { true: true, false: false }[typeof word === "object" ? "" : word];
}

function readObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value : {};
}

function readList(value) {
  return Array.isArray(value) ? value : [];
}

// What a step says about itself, in a call's arguments and in a history row alike.
function readMarks(object) {
  const field = (name) => object[name] ?? object[name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)];
  const number = readCount(field("thoughtNumber"));
  const total = readCount(field("totalThoughts"));
  const revises = readCount(field("revisesThought"));
  return {
    text: readText(field("thought")),
    number,
    total: total && number ? Math.max(total, number) : undefined,
    more: readFlag(field("nextThoughtNeeded")),
    branch: readName(field("branchId")),
    forkNumber: readCount(field("branchFromThought")),
    isRevision: readFlag(field("isRevision")) ?? revises !== undefined,
    revises,
    rewind: readFlag(field("rewind")) ?? false,
    summarizes: readCount(field("summarizesThrough")),
    mayGrow: readFlag(field("needsMoreThoughts")) ?? false,
  };
}

export function readInput(input) {
  const object = readObject(input);
  return { ...readMarks(object), sequenceId: readId(object.sequenceId ?? object.sequence_id) };
}

// Never drawn, copied or logged: it is the key to the sequence.
function readId(value) {
  return typeof value === "string" && /^[\w-]{8,128}$/.test(value) ? value : undefined;
}

// A refusal may repeat the id that it refuses.
export function readRefusal(text, max) {
  return readText(text, max).replace(/seq_\w+/g, "seq_…").trim();
}

// `result` is a tool result; ChatGPT's globals come as one of the same shape.
export function readResult(result) {
  const object = readObject(result);
  const text = readText(readObject(readList(object.content)[0]).text, THOUGHT_MAX + 4000);
  if (object.isError === true) {
    return { failed: true, text: readRefusal(text, 500) || "The step failed." };
  }
  const structured = readObject(object.structuredContent);
  const meta = readObject(readObject(object._meta)[META]);
  const branch = readObject(meta.branch);
  const fork = readObject(branch.fork);
  // The text is the position, notes if there are any, the thought, and a last line with the id, which is never shown.
  const blocks = text.split("\n\n");
  const known = blocks.at(-1).startsWith("Sequence: ");
  return {
    failed: false,
    text: known ? blocks.slice(blocks[1].startsWith("Note: ") && structured.warnings ? 2 : 1, -1).join("\n\n") : "",
    sequenceId: readId(structured.sequenceId),
    number: readCount(structured.thoughtNumber),
    total: readCount(structured.totalThoughts),
    length: readCount(structured.thoughtHistoryLength),
    ordinal: readCount(meta.ordinal),
    branch: readName(branch.id) ?? readName(structured.branchId),
    branchIndex: branch.index === 0 ? 0 : readCount(branch.index),
    fork: { number: readCount(fork.thoughtNumber), branch: readName(fork.branchId) },
    isRevision: readFlag(meta.isRevision),
    revises: readCount(readObject(meta.revises).thoughtNumber),
    superseded: readCount(structured.superseded),
    summarizes: readCount(meta.summarizesThrough),
    opens: readFlag(meta.forks),
    // The loop guard may end a chain that its model would have gone on with.
    more: readFlag(structured.nextThoughtNeeded) ?? readFlag(meta.nextThoughtNeeded)
      ?? (structured.completed === true ? false : undefined),
  };
}

function readStep(row) {
  const object = readObject(row);
  const target = readObject(object.revised);
  return {
    ...readMarks(object),
    branch: readName(object.branchId) ?? MAIN,
    ordinal: readCount(object.ordinal),
    target: readCount(target.ordinal),
    superseded: object.superseded === true,
  };
}

function readBranch(row) {
  const object = readObject(row);
  return {
    id: readName(object.branchId),
    parent: readName(object.parentBranchId),
    forkOrdinal: readCount(object.forkOrdinal),
    forkNumber: readCount(object.branchFromThought),
  };
}

// One page of history: `{ steps, branches, cursor }`. Throws what the server refused.
export function readPage(result) {
  const object = readObject(result);
  if (object.isError === true) {
    throw Object.assign(new Error(readResult(object).text), { refused: true });
  }
  const structured = readObject(object.structuredContent);
  const sequence = readObject(structured.sequence);
  return {
    steps: readList(structured.thoughts).slice(0, STEPS_MAX).map(readStep).filter((step) => step.ordinal && step.number),
    branches: readList(sequence.branches).slice(0, STEPS_MAX).map(readBranch).filter((branch) => branch.id),
    cursor: typeof structured.nextCursor === "string" && structured.nextCursor ? structured.nextCursor : undefined,
  };
}

// What `over` knows, and else what `under` knows.
export function merge(under, over) {
  return { ...under, ...Object.fromEntries(Object.entries(over ?? {}).filter(([, value]) => value !== undefined)) };
}
