// Makes elements. Text only ever becomes a text node, so no thought can become markup.

// `name` is a tag with its classes: "p.thought". A function among the attributes is a listener; false is no attribute,
// and no child.
export function el(name, attributes, ...children) {
  const [tag, ...classes] = name.split(".");
  return fill(document.createElement(tag), classes, attributes, children);
}

export function svg(name, attributes, ...children) {
  const [tag, ...classes] = name.split(".");
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), classes, attributes, children);
}

function fill(element, classes, attributes, children) {
  if (classes.length) {
    element.setAttribute("class", classes.join(" "));
  }
  if (element.localName === "button") {
    element.type = "button";
  }
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (typeof value === "function") {
      element.addEventListener(name, value);
    } else if (value !== false && value !== undefined) {
      element.setAttribute(name, value);
    }
  }
  element.append(...children.flat(3).filter(Boolean));
  return element;
}

const ICONS = {
  branch: "M4 14V2M4 10c0-4 8 0 8-6",
  revise: "M3 8a5 5 0 1 0 2-4M5 1v3h3",
  summary: "M3 4h10M3 8h10M3 12h6",
  search: "M7 3a4 4 0 1 0 0 8a4 4 0 0 0 0-8M10 10l4 4",
  expand: "M4 6l4-4l4 4M4 10l4 4l4-4",
  collapse: "M4 2l4 4l4-4M4 14l4-4l4 4",
  copy: "M6 6h7v8h-7zM10 3h-7v8",
  full: "M2 6v-4h4M10 2h4v4M14 10v4h-4M6 14h-4v-4",
  check: "M3 9l3 3l7-8",
  down: "M4 6l4 4l4-4",
};

export function chip(kind, ...content) {
  return el(`span.chip${kind}`, {}, content);
}

export function icon(name) {
  return svg("svg.icon", { viewBox: "0 0 16 16", "aria-hidden": "true" }, svg("path", { d: ICONS[name] }));
}

export function plural(count, noun) {
  return `${count} ${noun}${count === 1 ? "" : noun === "branch" ? "es" : "s"}`;
}
