// The card: one for each call of the tool. It takes what the host sends in any order, shows the step, and for a last
// step the whole process.

import { listen, notify, request } from "./bridge.js";
import { el, plural } from "./dom.js";
import { buildGraph, laneColour } from "./graph.js";
import { loadHistory } from "./history.js";
import { createPlace } from "./place.js";
import { createProcess } from "./process.js";
import { MAIN, merge, readInput, readRefusal, readResult } from "./read.js";
import { handOut } from "./save.js";
import { drawStep } from "./step.js";
import { writeMarkdown } from "./words.js";

const card = document.getElementById("card");
const status = el("p.vh", { role: "status" });
const place = createPlace(card);
const known = { input: undefined, partial: "", result: undefined, cancelled: false, late: false };
const history = { phase: "none", steps: [], branches: [] };
let capabilities;
let measure = () => {};
let drawn = "";

const process = createProcess({
  say,
  changed: place.report,
  height: () => card.getBoundingClientRect().height,
  copy: () => handOut(writeMarkdown(processGraph()), capabilities?.downloadFile && download),
});
const content = el("div.content", {});
card.append(content, status);

function say(text) {
  status.textContent = text;
}

// Everything known of this card's step: what the server stored wins over what the model asked for.
function currentStep() {
  const { input = {}, result = {} } = known;
  const step = merge(input, result);
  const onMain = !step.branch || step.branch === MAIN;
  const index = onMain ? 0 : result.branchIndex;
  return {
    ...step,
    sequenceId: undefined,
    text: input.text || (!result.failed && result.text) || known.partial,
    ordinal: result.ordinal ?? result.length,
    colour: laneColour(index),
    parentColour: laneColour(result.fork?.branch === MAIN ? 0 : undefined),
    named: !onMain,
    from: step.opens && ` · from ${result.fork.number}`,
    begins: onMain && step.number === 1,
  };
}

function processGraph() {
  const { ordinal } = currentStep();
  return buildGraph(history.steps, history.branches, ordinal, known.result.length);
}

function draw() {
  const step = currentStep();
  const failed = known.result?.failed;
  const phase = failed ? "failed" : known.result || (known.input?.text && !known.cancelled) ? "shown"
    : known.cancelled ? "cancelled" : known.partial ? "thinking" : "waiting";
  const final = phase === "shown" && step.more === false && known.result?.length > 1;
  if (final && history.phase === "none") {
    load();
  }
  const signature = JSON.stringify([step, phase, history.phase, known.late, known.result?.text, Boolean(place.ready)]);
  if (signature === drawn) {
    return;
  }
  drawn = signature;
  card.classList.toggle("final", final);
  if (final && history.phase === "loaded") {
    content.replaceChildren(process.element);
    process.notice.replaceChildren(...noticesOf(step, phase, final));
    process.show(processGraph());
    say(`${plural(known.result.length, "step")} thought through`);
    measure = process.fit;
  } else {
    step.concludes = phase === "shown" && step.more === false;
    const { element, measure: measureStep } = drawStep(step, phase, noticesOf(step, phase, final), place.report);
    content.replaceChildren(element);
    measure = measureStep;
    if (phase === "shown" && step.number) {
      say(`Step ${step.number}${step.total ? ` of ${step.total}` : ""}`);
    }
  }
  measure();
  place.report();
}

const REST = {
  loading: "Loading the other steps…",
  closed: "This app does not let cards read the other steps.",
  refused: "The other steps could not be read: ",
  silent: "The other steps did not arrive. ",
};

function noticesOf(step, phase, final) {
  const failed = phase === "failed";
  const retry = final && (history.phase === "silent" || history.phase === "refused");
  const text = failed ? known.result.text
    : phase === "cancelled" ? "Cancelled before it was stored."
    : phase === "waiting" ? known.late && "The app sent no thought to this card."
    : final ? REST[history.phase] ?? (history.steps.length < known.result.length
      && `${history.steps.length} of ${plural(known.result.length, "step")} are shown.`)
    : phase === "shown" && !step.text && "The text of this step was not sent to this card.";
  return text ? [el(failed ? "p.notice.red" : "p.notice", { dir: "auto" }, text,
    history.phase === "refused" && `${history.reason} `, retry && el("button.more", { click: load }, "Try again"))] : [];
}

// Once for each final card, and again only by hand: in some hosts every call wakes the model.
async function load() {
  const { sequenceId, length } = known.result;
  if (!place.ready) {
    return;
  }
  if (!capabilities?.serverTools || !sequenceId) {
    history.phase = "closed";
    return;
  }
  history.phase = "loading";
  draw();
  try {
    Object.assign(history, await loadHistory(sequenceId, length));
    history.phase = history.steps.length ? "loaded" : "silent";
  } catch (error) {
    history.phase = error.refused ? "refused" : "silent";
    history.reason = readRefusal(error.message, 200);
  }
  draw();
}

function download(text) {
  const resource = { uri: "file:///thinking-process.md", mimeType: "text/markdown", text };
  return request("ui/download-file", { contents: [{ type: "resource", resource }] }, 60000);
}

function takeInput(params) {
  const input = readInput(params?.arguments);
  known.input = input.text ? input : known.input ?? input;
  draw();
}

function takePartial(params) {
  known.partial = readInput(params?.arguments).text;
  draw();
}

function takeResult(params) {
  known.result = readResult(params);
  draw();
}

function takeContext(context) {
  place.apply(context);
  const { availableDisplayModes: modes, displayMode } = place.context;
  const full = displayMode === "fullscreen";
  process.offerFullScreen(Array.isArray(modes) && modes.includes("fullscreen") && !full && enlarge);
  process.setRoomy(full);
  place.report();
}

// The host answers with the mode that it chose.
async function enlarge() {
  const answer = await request("ui/request-display-mode", { mode: "fullscreen" }, 15000).catch(() => undefined);
  takeContext({ displayMode: answer?.mode });
}

// ChatGPT keeps the call's data in globals and, after a reload, sends no message at all.
function takeGlobals() {
  const globals = window.openai;
  if (typeof globals !== "object" || globals === null) {
    return;
  }
  if (!known.input && globals.toolInput) {
    known.input = readInput(globals.toolInput);
  }
  if (!known.result && globals.toolOutput) {
    known.result = readResult({ structuredContent: globals.toolOutput, _meta: globals.toolResponseMetadata });
  }
  draw();
}

listen({
  "ui/notifications/tool-input-partial": takePartial,
  "ui/notifications/tool-input": takeInput,
  "ui/notifications/tool-result": takeResult,
  "ui/notifications/tool-cancelled"() {
    known.cancelled = true;
    draw();
  },
  "ui/notifications/host-context-changed": takeContext,
});

function begin(answer) {
  capabilities = answer?.hostCapabilities;
  takeContext(answer?.hostContext);
  notify("ui/notifications/initialized");
  place.ready = true;
  window.addEventListener("openai:set_globals", takeGlobals);
  takeGlobals();
  draw();
  setTimeout(expire, 10000);
}

// Never wait for ever: what has not come by now is said to be missing.
function expire() {
  known.late = true;
  draw();
}

// The first thing sent, in the first tick: hosts keep the frame hidden until it is done. Data that came before the
// answer, or without one, is shown all the same.
request("ui/initialize", {
  protocolVersion: "2026-01-26",
  appInfo: { name: "sequential-thinking-process", version: "1.0.0" },
  appCapabilities: { availableDisplayModes: ["inline", "fullscreen"] },
}, 15000).then(begin, expire);
draw();
let width = 0;
new ResizeObserver(([entry]) => {
  if (width && width !== entry.contentRect.width) {
    measure();
  }
  width = entry.contentRect.width;
  place.report();
}).observe(card);
