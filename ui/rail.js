// Draws the lanes: one small drawing per row, whose vertical lines stretch with the row. A row's lines depend only on
// the graph, never on which other rows are shown, so a row is drawn once.

import { svg } from "./dom.js";

const FIRST_X = 20;
const RADIUS = 9;
const ARC = 12;

export function laneGap(lanes) {
  return lanes > 3 ? 14 : 18;
}

export function railWidth(lanes) {
  return FIRST_X + (lanes - 1) * laneGap(lanes) + RADIUS + 10;
}

function line(x, from, to, classes) {
  return svg(`line.${classes}`, { x1: x, x2: x, y1: from, y2: to });
}

function laneClass(colour, strong, isGap) {
  return colour + (strong ? ".strong" : "") + (isGap ? ".hidden" : "");
}

// `top` and `bottom` are the lines that cross the row's upper and lower edge. Without a colour the row stands for hidden
// steps: lanes that go on run through it, lanes that begin or end among them stop half way.
export function drawRow(step, top, bottom, lanes, height) {
  const gap = laneGap(lanes);
  const isGap = !step.colour;
  const middle = height / 2;
  const at = (lane) => FIRST_X + lane * gap;
  const x = at(step.lane);
  const parts = [];
  for (const key of new Set([...top, ...bottom].map((edge) => edge.key))) {
    const above = top.find((edge) => edge.key === key);
    const below = bottom.find((edge) => edge.key === key);
    const { lane, arc, colour } = above ?? below;
    const lx = at(lane);
    const draw = (from, to, { strong }) => parts.push(line(lx, from, to, laneClass(colour, strong, isGap)));
    if (arc) {
      if (above && below) {
        parts.push(arcPart(key, line(lx - ARC, 0, "100%", "arc")));
      }
      continue;
    }
    if (above) {
      draw(0, below?.strong === above.strong ? "100%" : middle, above);
    }
    if (below && above?.strong !== below.strong) {
      const forks = step.forks?.includes(key);
      if (forks) {
        const curve = `M${x} ${middle}C${x} ${height} ${lx} ${middle} ${lx} ${height}`;
        parts.push(svg(`path.${laneClass(colour, below.strong)}`, { d: curve }));
      }
      draw(forks ? height : middle, "100%", below);
    }
  }
  for (const { key, down } of step.arcs ?? []) {
    const bend = down
      ? `M${x - RADIUS + 1} ${middle + 3}Q${x - ARC} ${middle + 5} ${x - ARC} ${height}`
      : `M${x - ARC} 0Q${x - ARC} ${middle - 5} ${x - RADIUS + 1} ${middle - 3}`;
    parts.push(arcPart(key, svg("path.arc", { d: bend })));
    if (down) {
      parts.push(arcPart(key, line(x - ARC, height, "100%", "arc")));
    }
  }
  // Strong lines lie over faint ones, the node over all.
  parts.sort((a, b) => a.classList.contains("strong") - b.classList.contains("strong"));
  return svg("svg.rail", { "aria-hidden": "true" }, parts, !isGap && drawNode(step, x, middle));
}

function arcPart(key, part) {
  part.dataset.arc = key;
  return part;
}

function drawNode(step, x, y) {
  const kind = step.concludes ? "end" : step.superseded ? "aside" : step.isRevision ? "revision" : step.onPath ? "on" : "off";
  const digits = String(step.number ?? "");
  const wide = digits.length > 2 ? 2 : 0;
  const shape = svg(`rect.node`, {
    x: x - RADIUS - wide, y: y - RADIUS, width: 2 * (RADIUS + wide), height: 2 * RADIUS, rx: step.summarizes ? 4 : RADIUS,
  });
  const halo = step.concludes && svg("circle.halo", { cx: x, cy: y, r: RADIUS + 3 });
  // Numbers that do not fit are in the row's label all the same.
  const label = digits.length < 4 && svg("text", { x, y: y + 3.6 }, digits);
  return svg(`g.${step.colour}.${kind}`, {}, halo, shape, label);
}

// The rail of a single step: its own lane from edge to edge, beside the lane that it left.
export function drawStepRail(step, height) {
  const lane = step.named ? 1 : 0;
  const beside = { key: "beside", lane: 0, colour: step.parentColour };
  const own = { key: "own", lane, colour: step.colour, strong: true };
  const above = step.begins || step.opens ? [] : [own];
  const below = step.concludes ? [] : [own];
  const others = step.named ? [beside] : [];
  const rail = drawRow({ ...step, lane }, [...others, ...above], [...others, ...below], 2, height);
  if (step.named && step.opens) {
    const x = FIRST_X + laneGap(2);
    const middle = height / 2;
    rail.prepend(svg(`path.${step.colour}.strong`, { d: `M${FIRST_X} 0C${FIRST_X} ${middle} ${x} 0 ${x} ${middle}` }));
  }
  return rail;
}
