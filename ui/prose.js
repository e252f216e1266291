// Shows the text of a thought: whole, shortened to some lines, as a difference, or with found words marked.

import { el } from "./dom.js";
import { diffWords } from "./diff.js";

export function prose(text, classes = "") {
  return el(`div.prose${classes}`, { dir: "auto" }, text);
}

// Shortens `block` to the lines that its style allows, once it is laid out, and offers the rest.
export function clampProse(block, text, changed) {
  block.classList.add("clamp");
  const more = el("button.more", {
    hidden: true,
    click() {
      more.textContent = block.classList.toggle("clamp") ? label : "Show less";
      changed();
    },
  });
  const label = `Show all ${text.length.toLocaleString("en")} characters`;
  more.textContent = label;
  return {
    more,
    measure() {
      if (block.classList.contains("clamp")) {
        more.hidden = block.scrollHeight <= block.clientHeight + 2;
        block.classList.toggle("cut", !more.hidden);
      }
    },
  };
}

// A correction reads best inside its sentence; where too little is left of the old text, old stands above new.
export function proseOfRevision(before, after) {
  const runs = diffWords(before, after);
  if (!runs) {
    return [prose(before, ".struck"), prose(after)];
  }
  const block = prose("");
  runs.forEach(({ kind, text }, index) => {
    if (kind === "same") {
      block.append(text);
      return;
    }
    block.append(el(kind === "old" ? "del" : "ins", {}, text));
    if (kind === "old" && runs[index + 1]?.kind === "new" && !/\s$/.test(text)) {
      block.append(" ");
    }
  });
  return [block];
}

// One line of a text; with `query`, the part of it around the first hit, the hit marked.
export function previewOf(text, query) {
  const flat = text.slice(0, 40000).replace(/\s+/g, " ").trim();
  const at = query ? flat.toLowerCase().indexOf(query) : -1;
  if (at < 0) {
    return [flat.slice(0, 240)];
  }
  const from = Math.max(0, at - 24);
  const end = at + query.length;
  return [from && "…", flat.slice(from, at), el("mark", {}, flat.slice(at, end)), flat.slice(end, end + 200)];
}
