// What is said about a step, in the same words for eyes, ears and the copied document.

import { MAIN } from "./read.js";
import { plural } from "./dom.js";

export function nameStep(step) {
  const name = `${step.concludes ? "Conclusion, step" : "Step"} ${step.number}`;
  return step.branch && step.branch !== MAIN ? `${name} on branch ${step.branch}` : name;
}

export function describeStep(step) {
  return [
    nameStep(step),
    step.revisionOf && `revises ${step.revisionOf.number}`,
    step.revisedBy && `revised in ${step.revisedBy.number}`,
    step.summarizes && `sums up to ${step.summarizes}`,
    step.superseded && "set aside",
    step.hangs && "hanging",
  ].filter(Boolean).join(", ");
}

export function countFacts(graph) {
  const branches = graph.branches.filter((branch) => branch.first && branch.id !== MAIN).length;
  const revisions = graph.steps.filter((step) => step.isRevision).length;
  return [
    plural(graph.steps.length, "step"),
    branches && plural(branches, "branch"),
    revisions && plural(revisions, "revision"),
  ].filter(Boolean);
}

// The process as a Markdown document. The id of the sequence is a key and stays out of it.
export function writeMarkdown(graph) {
  const parts = graph.steps.map((step) => `## ${describeStep(step)}\n\n${step.text}\n`);
  return ["# Thinking process", `${countFacts(graph).join(", ")}\n`, ...parts].join("\n");
}
