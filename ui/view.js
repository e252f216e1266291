// The view: draws a finished process for people whose client shows no cards. The token and the id are kept in memory
// only; the id may come in the address's fragment, which browsers never send.

import { el } from "./dom.js";
import { buildGraph } from "./graph.js";
import { createProcess } from "./process.js";
import { readPage } from "./read.js";
import { handOut } from "./save.js";
import { writeMarkdown } from "./words.js";

const view = document.getElementById("card");
const said = el("p.vh", { role: "status" });

function drawDocument(exported) {
  const { steps, branches } = readPage({ structuredContent: exported });
  if (!steps.length) {
    throw new Error("This document holds no thoughts.");
  }
  // The process ends with the last thought that ended its main line.
  const end = steps.findLast((step) => step.more === false && step.branch === "main") ?? steps.at(-1);
  const graph = buildGraph(steps, branches, end.ordinal, Infinity);
  const shown = createProcess({
    say: (text) => { said.textContent = text; },
    height: () => 0,
    changed() {},
    copy: () => handOut(writeMarkdown(graph)),
  });
  shown.setRoomy(true);
  view.replaceChildren(el("h1.vh", {}, "Thinking process"), shown.element, said);
  shown.show(graph);
}

function ask(id) {
  const token = el("input", { type: "password", autocomplete: "off", required: "", spellcheck: "false" });
  const sequence = el("input", { autocomplete: "off", required: "", spellcheck: "false", value: id });
  const failure = el("p.notice.red", { role: "alert" });
  const form = el("form.ask", {
    async submit(event) {
      event.preventDefault();
      failure.textContent = "";
      try {
        drawDocument(await fetchDocument(token.value.trim(), sequence.value.trim()));
      } catch (error) {
        failure.textContent = error.message;
      }
    },
  }, el("h1", {}, "A thinking process"), el("p", {}, "Both stay in this page's memory and are gone when it is closed."),
  el("label", {}, "Token of this server", token), el("label", {}, "Sequence id", sequence),
  el("button.c0", {}, "Show"), failure);
  form.querySelector("button").type = "submit";
  view.replaceChildren(form);
  (id ? token : sequence).focus();
}

async function fetchDocument(token, sequenceId) {
  const answer = await fetch("/export", {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ sequenceId, format: "json" }),
    credentials: "omit",
    cache: "no-store",
  });
  const body = await answer.text();
  if (!answer.ok) {
    throw new Error(answer.status === 401 ? "The server does not know this token." : messageOf(body) || `The server answered ${answer.status}.`);
  }
  return JSON.parse(body);
}

// A refusal of the server, in whichever of its forms.
function messageOf(body) {
  try {
    const { error, message } = JSON.parse(body);
    return error?.message ?? message ?? error;
  } catch {
    return body.slice(0, 300);
  }
}

// A file that `durable-thinking show` wrote holds the document itself.
const embedded = document.getElementById("document");
if (embedded) {
  drawDocument(JSON.parse(embedded.textContent));
} else {
  const id = location.hash.slice(1);
  window.history.replaceState(null, "", location.pathname);
  ask(id);
}
