// The card: shakes hands with the host and shows the thought of its own call.

import { listen, notify, request } from "./bridge.js";

const card = document.getElementById("card");
const heading = document.createElement("h1");
const thought = document.createElement("p");
thought.className = "thought";
thought.dir = "auto";
card.append(heading, thought);
let ready = false;

function draw({ arguments: input }) {
  if (typeof input?.thought !== "string") {
    return;
  }
  heading.textContent = input.totalThoughts ? `Step ${input.thoughtNumber} of ${input.totalThoughts}` : "Thinking";
  thought.textContent = input.thought;
  report();
}

// Height only: a reported width would pin the frame in some hosts.
function report() {
  if (ready) {
    notify("ui/notifications/size-changed", { height: Math.ceil(card.getBoundingClientRect().height) });
  }
}

function applyContext(context) {
  if (context?.theme === "light" || context?.theme === "dark") {
    card.dataset.theme = context.theme;
    document.documentElement.style.backgroundColor = getComputedStyle(card).backgroundColor;
  }
}

listen({
  "ui/notifications/tool-input": draw,
  "ui/notifications/tool-input-partial": draw,
  "ui/notifications/host-context-changed": applyContext,
});
request("ui/initialize", {
  protocolVersion: "2026-01-26",
  appInfo: { name: "sequential-thinking-process", version: "1.0.0" },
  appCapabilities: { availableDisplayModes: ["inline", "fullscreen"] },
}, 15000).then((answer) => {
  applyContext(answer?.hostContext);
  notify("ui/notifications/initialized");
  ready = true;
  report();
}, () => {});
