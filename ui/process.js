// The whole process as a list of rows beside its lanes: fold, search, expand, jump. Owns no data and asks nobody for any.

import { chip, el, icon, plural } from "./dom.js";
import { MAIN } from "./read.js";
import { chooseSteps } from "./fold.js";
import { drawRow, railWidth } from "./rail.js";
import { markChips } from "./step.js";
import { clampProse, previewOf, prose, proseOfRevision } from "./prose.js";
import { countFacts, describeStep, nameStep } from "./words.js";

const INLINE_MAX = 500;

// `page` offers `say(text)`, `height()`, `changed()` after every change of height, and `copy()` which resolves with
// what happened.
export function createProcess(page) {
  const row = matchMedia("(pointer: coarse)").matches ? 44 : 28;
  const gapHeight = row === 44 ? 44 : 24;
  const state = { graph: undefined, open: new Set(), shown: new Set(), query: "", branch: "", roomy: false, budget: INLINE_MAX };
  const rows = new Map();
  const facts = el("p.facts", {});
  const search = el("input", {
    type: "search", placeholder: "Search steps", "aria-label": "Search steps", maxlength: 80,
    input() {
      state.query = search.value.replace(/\s+/g, " ").trim().toLowerCase();
      render();
      page.say(state.query ? `${plural(visible().size, "step")} found` : "");
    },
  });
  const expand = tool("expand", "Expand all", () => setAll(true));
  const collapse = tool("collapse", "Collapse", () => setAll(false));
  const copy = tool("copy", "Copy", async () => {
    const outcome = await page.copy();
    page.say(outcome);
    copy.lastChild.textContent = outcome;
    setTimeout(() => { copy.lastChild.textContent = "Copy"; }, 2500);
  });
  const full = tool("full", "Full screen");
  full.hidden = true;
  const searchBox = el("label.search", {}, icon("search"), search);
  const filters = el("div.filters", { role: "group", "aria-label": "Branches", hidden: true });
  const notice = el("div.notices", {});
  const list = el("ol.rows", { keydown: moveFocus });
  for (const type of ["pointerover", "pointerout", "focusin", "focusout"]) {
    list.addEventListener(type, (event) => glow(event, type === "pointerover" || type === "focusin"));
  }
  const element = el("section.process", {},
    el("header.bar", {}, facts, el("div.tools", {}, searchBox, expand, collapse, copy, full)), filters, notice, list);

  // Shows `graph`. What is open stays open when the same process is shown again.
  function show(graph) {
    if (!state.graph) {
      state.open.add(graph.conclusion.ordinal);
    }
    state.graph = graph;
    rows.clear();
    facts.replaceChildren(...countFacts(graph).map((fact, index) => el(index ? "span" : "strong", {}, fact)));
    element.style.setProperty("--rail", `${railWidth(graph.lanes)}px`);
    element.style.setProperty("--row", `${row}px`);
    searchBox.hidden = graph.steps.length < 6;
    fillFilters();
    render();
    fit();
  }

  function visible() {
    const { steps } = state.graph;
    if (state.query || state.branch) {
      return new Set(steps.filter(matches));
    }
    if (state.roomy) {
      return new Set(steps);
    }
    const chosen = chooseSteps(steps, state.budget, row, gapHeight);
    return new Set(steps.filter((step) => chosen.has(step) || state.shown.has(step.ordinal)));
  }

  function matches(step) {
    if (state.branch && step.branch !== state.branch && !step.forks.includes(state.branch)) {
      return false;
    }
    step.haystack ??= `${step.text.replace(/\s+/g, " ")}\n${step.branch === MAIN ? "" : step.branch}`.toLowerCase();
    return step.haystack.includes(state.query);
  }

  function render() {
    const { steps, edges, lanes } = state.graph;
    const focus = document.activeElement;
    const inside = list.contains(focus);
    const chosen = visible();
    const children = [];
    let hidden = [];
    const closeGap = () => {
      if (hidden.length) {
        const top = edges[hidden[0].index];
        const bottom = edges[hidden.at(-1).index + 1];
        children.push(gapRow(hidden, drawRow({}, top, bottom, lanes, gapHeight)));
        hidden = [];
      }
    };
    for (const step of steps) {
      if (chosen.has(step)) {
        closeGap();
        children.push(stepRow(step));
      } else {
        hidden.push(step);
      }
    }
    closeGap();
    list.replaceChildren(...children);
    if (inside && list.contains(focus)) {
      focus.focus({ preventScroll: true });
    }
    settle();
  }

  // Inline the card keeps within its height: what a drawing took too much is taken from the rows.
  function fit() {
    if (!state.graph || state.roomy || state.shown.size || state.query || state.open.size > 1) {
      return;
    }
    state.budget = INLINE_MAX;
    render();
    for (let round = 0; round < 5 && state.budget > 3 * row; round++) {
      rows.get(state.graph.conclusion.ordinal).measure?.();
      const over = page.height() - INLINE_MAX;
      if (over <= 0) {
        return;
      }
      state.budget = Math.max(3 * row, Math.min(state.budget, list.childElementCount * row) - over);
      render();
    }
  }

  function gapRow(steps, rail) {
    const words = plural(steps.length, "more step");
    if (state.query || state.branch) {
      return el("li.gap.still", {}, rail, el("span.vh", {}, words));
    }
    const reveal = () => {
      steps.forEach((step) => state.shown.add(step.ordinal));
      render();
      rows.get(steps[0].ordinal).line.focus({ preventScroll: true });
    };
    return el("li.gap", {}, rail, el("button.line", { click: reveal }, words));
  }

  function stepRow(step) {
    const open = state.open.has(step.ordinal);
    let entry = rows.get(step.ordinal);
    if (!entry) {
      entry = { step };
      entry.line = el("button.line", { "aria-controls": `step-${step.ordinal}`, click: () => toggle(step) });
      const marks = [step.concludes && "concludes", step.onPath && "on", step.revisedBy && "revised",
        step.superseded && "aside"].filter(Boolean).map((mark) => `.${mark}`).join("");
      const rail = drawRow(step, state.graph.edges[step.index], state.graph.edges[step.index + 1], state.graph.lanes, row);
      entry.element = el(`li.row.${step.colour}${marks}`, {}, rail, el("div.head", {}, entry.line, chipsOf(step), icon("down")));
      entry.element.dataset.ordinal = step.ordinal;
      rows.set(step.ordinal, entry);
    }
    if (entry.open !== open || (!open && entry.query !== state.query)) {
      entry.open = open;
      entry.query = state.query;
      fillRow(entry);
    }
    return entry.element;
  }

  function fillRow(entry) {
    const { step, open, line, element: item } = entry;
    item.classList.toggle("open", open);
    line.setAttribute("aria-expanded", open);
    entry.body?.remove();
    entry.body = entry.measure = undefined;
    if (!open) {
      line.replaceChildren(el("span.vh", {}, `${describeStep(step)}: `),
        el("span.preview", { dir: "auto" }, previewOf(step.text, state.query)));
      return;
    }
    line.replaceChildren(el("span.label", {}, step.concludes ? "Conclusion" : nameStep(step)),
      el("span.vh", {}, describeStep(step).slice(nameStep(step).length)));
    entry.body = el("div.body", { id: `step-${step.ordinal}` }, bodyOf(entry));
    item.append(entry.body);
  }

  function bodyOf(entry) {
    const { step } = entry;
    if (step.revisionOf) {
      return proseOfRevision(step.revisionOf.text, step.text);
    }
    const block = prose(step.text);
    if (step.text.length < (step.concludes ? 150 : 600)) {
      return block;
    }
    const clamp = clampProse(block, step.text, page.changed);
    entry.measure = clamp.measure;
    requestAnimationFrame(() => {
      clamp.measure();
      page.changed();
    });
    return [block, clamp.more];
  }

  function chipsOf(step) {
    return [
      markChips(step, "to "),
      step.revisionOf && jumpTo(step.revisionOf, ".amber", icon("revise"), el("span.vh", {}, "revises "), `${step.revisionOf.number}`),
      step.revisedBy && jumpTo(step.revisedBy, ".bare", `revised in ${step.revisedBy.number}`),
      step.superseded && !step.revisedBy && el("span.note", {}, "set aside"),
      step.hangs && el("span.note", {}, "hanging"),
    ];
  }

  function jumpTo(target, kind, ...content) {
    const go = () => {
      state.shown.add(target.ordinal);
      if (state.query || state.branch) {
        search.value = state.query = state.branch = "";
        fillFilters();
      }
      render();
      const { element: item, line } = rows.get(target.ordinal);
      item.scrollIntoView({ block: "nearest" });
      line.focus({ preventScroll: true });
      item.classList.remove("flash");
      void item.offsetWidth;
      item.classList.add("flash");
    };
    return el("button.jump", { click: go }, chip(kind, ...content));
  }

  function toggle(step) {
    if (!state.open.delete(step.ordinal)) {
      state.open.add(step.ordinal);
    }
    stepRow(step);
    settle();
  }

  // What follows every change of what is shown.
  function settle() {
    const { steps, conclusion } = state.graph;
    collapse.hidden = !state.shown.size && state.open.size <= state.open.has(conclusion.ordinal);
    expand.hidden = state.open.size === steps.length;
    page.changed();
  }

  function setAll(open) {
    const { steps, conclusion } = state.graph;
    state.open = new Set(open ? steps.map((step) => step.ordinal) : [conclusion.ordinal]);
    state.shown = new Set(open ? state.open : []);
    render();
    fit();
    (open ? collapse : expand).focus({ preventScroll: true });
  }

  function moveFocus(event) {
    const lines = [...list.querySelectorAll("button.line")];
    const at = lines.indexOf(event.target);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: lines.length - 1 }[event.key];
    if (at >= 0 && to !== undefined && !event.altKey && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      lines.at(Math.min(lines.length - 1, Math.max(0, to))).focus();
    }
  }

  // A correction and what it corrects light up together, with the arc between them.
  function glow(event, on) {
    const step = rows.get(Number(event.target.closest?.("li.row")?.dataset.ordinal))?.step;
    for (const [target, source] of [[step, step?.revisedBy], [step?.revisionOf, step]]) {
      if (target && source) {
        for (const part of list.querySelectorAll(`[data-arc="${target.ordinal}-${source.ordinal}"]`)) {
          part.classList.toggle("hot", on);
        }
        for (const end of [target, source]) {
          rows.get(end.ordinal)?.element.classList.toggle("linked", on);
        }
      }
    }
  }

  function fillFilters() {
    const branches = state.graph.branches.filter((branch) => branch.first);
    filters.hidden = !state.roomy || branches.length < 2;
    if (filters.hidden) {
      state.branch = "";
    }
    const button = (id, words, colour) => el(`button.filter.${colour}`, {
      "aria-pressed": String(state.branch === id),
      click() {
        state.branch = id;
        fillFilters();
        render();
        page.say(`${plural(visible().size, "step")} shown`);
      },
    }, el("bdi", {}, words));
    filters.replaceChildren(button("", "All", "c9"), ...branches.map((branch) => button(branch.id, branch.id, branch.colour)));
  }

  // With room, as in full screen, nothing is folded.
  function setRoomy(roomy) {
    if (state.roomy !== roomy) {
      state.roomy = roomy;
      element.classList.toggle("roomy", roomy);
      if (state.graph) {
        fillFilters();
        render();
        fit();
      }
    }
  }

  window.addEventListener("beforeprint", () => state.graph && setAll(true));
  function offerFullScreen(go) {
    full.hidden = !go;
    full.onclick = go;
  }

  return { element, notice, show, setRoomy, offerFullScreen, fit };
}

function tool(name, words, click) {
  return el("button.tool", { title: words, click }, icon(name), el("span", {}, words));
}
