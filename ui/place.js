// The place where the card is shown: theme, style variables, insets, display mode and size.

import { notify } from "./bridge.js";
import { merge } from "./read.js";

const VARIABLE = /^--(color|font|border|shadow)-[a-z0-9-]{1,60}$/;
const root = document.documentElement;

// `element` carries the colour scheme and paints the surface. A host's variables use `light-dark()`, which follows the
// scheme of the element; on the root it would follow the system, or make the frame opaque.
export function createPlace(element) {
  const place = { context: {}, ready: false, apply, report };
  let reported = 0;
  let queued = false;

  // A context is partial: what it does not name stays.
  function apply(context) {
    place.context = merge(place.context, context);
    const { theme, styles, safeAreaInsets, displayMode } = place.context;
    if (theme === "light" || theme === "dark") {
      element.dataset.theme = theme;
    }
    for (const [name, value] of Object.entries(styles?.variables ?? {})) {
      if (VARIABLE.test(name) && typeof value === "string" && value.length < 200) {
        element.style.setProperty(name, value);
      }
    }
    const insets = ["top", "right", "bottom", "left"].map((side) => `${Number(safeAreaInsets?.[side]) || 0}px`);
    element.style.padding = insets.join(" ");
    root.classList.toggle("fullscreen", displayMode === "fullscreen");
    // Corners and overscroll show the root, so it takes the colour that the element resolved.
    root.style.backgroundColor = getComputedStyle(element).backgroundColor;
  }

  // Height only, measured on the content: a width would pin the frame in some hosts, and scrollHeight never shrinks.
  function send() {
    queued = false;
    const height = Math.ceil(element.getBoundingClientRect().height);
    if (place.ready && height !== reported && height > 0 && place.context.displayMode !== "fullscreen") {
      reported = height;
      notify("ui/notifications/size-changed", { height });
    }
  }

  // One report for all changes of a moment. A timer, because a frame that is not painted gets no animation frames.
  function report() {
    if (!queued) {
      queued = true;
      setTimeout(send, 16);
    }
  }

  return place;
}
