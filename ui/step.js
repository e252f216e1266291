// One step as a small calm card: its place, its lane and its text.

import { chip, el, icon } from "./dom.js";
import { drawStepRail, railWidth } from "./rail.js";
import { clampProse, prose } from "./prose.js";

const PILLS_MAX = 24;
const HEAD_HEIGHT = 44;

// `step` is what is known of the step; `phase` is "waiting", "thinking", "shown", "cancelled" or "failed".
export function drawStep(step, phase, notices, changed) {
  const live = phase === "waiting" || phase === "thinking";
  const rail = drawStepRail({ ...step, onPath: !live }, HEAD_HEIGHT);
  const head = el("header.stephead", {}, el("h1", {}, ...headingOf(step, phase)),
    !live && step.total && progressOf(step), chipsOfStep(step, phase));
  const article = el(`article.step.${step.colour}.${phase}`, { "aria-busy": String(live) }, rail, head);
  article.style.setProperty("--rail", `${railWidth(step.named ? 2 : 1)}px`);
  let measure = () => {};
  if (step.text) {
    const block = prose(step.text);
    const clamp = clampProse(block, step.text, changed);
    article.append(block, clamp.more);
    measure = clamp.measure;
  }
  article.append(...notices);
  return { element: article, measure };
}

function headingOf(step, phase) {
  if (phase === "thinking" || (phase === "waiting" && !step.number)) {
    return [phase === "thinking" ? "Thinking…" : "Waiting for the thought…"];
  }
  if (!step.number) {
    return ["A step"];
  }
  return [`Step ${step.number}`, step.total && el("span", {}, ` of ${step.total}`)];
}

function progressOf({ number, total }) {
  if (total > PILLS_MAX) {
    const bar = el("i", {});
    bar.style.width = `${(100 * number) / total}%`;
    return el("div.meter", { "aria-hidden": "true" }, bar);
  }
  const pills = Array.from({ length: total }, (_, index) =>
    el(index + 1 === number ? "i.now" : index < number ? "i.done" : "i", {}));
  return el("div.pills", { "aria-hidden": "true" }, pills);
}

// The chips that a step carries in its own card and in the list alike.
export function markChips(step, summary) {
  return [
    (step.named ?? step.opens) && chip("", icon("branch"), el("bdi", { title: step.branch }, step.branch), step.from),
    step.summarizes && chip(".plain", icon("summary"), summary + step.summarizes),
  ];
}

function chipsOfStep(step, phase) {
  return [
    markChips(step, "sums up to "),
    step.isRevision && step.revises && chip(".amber", icon("revise"), `revises ${step.revises}`),
    step.superseded && chip(".amber", `sets ${step.superseded} aside`),
    phase === "cancelled" ? chip(".plain", "Cancelled")
      : phase === "failed" ? chip(".red", "Failed")
      : step.more === false ? chip("", icon("check"), "done")
      : step.mayGrow && el("span.note", {}, "estimate may grow"),
  ];
}
