/** Long texts are cut on the screen, not in the page: a button shows the rest. */

import { el } from "./dom.js";
import { count } from "./format.js";

const MOST_CHARACTERS = 900;
const MOST_LINES = 14;

const isLong = (text) => text.length > MOST_CHARACTERS || text.split("\n", MOST_LINES + 1).length > MOST_LINES;

/** @returns {Array<Node>} the element that holds `text`, and where that is long the button below it */
export function folded(element, text) {
  if (!isLong(text)) return [element];
  element.classList.add("folded");
  const label = `Show all ${count(text.length)} characters`;
  const button = el("button", {
    type: "button", class: "quiet unfold", "aria-expanded": "false",
    onclick: () => {
      const open = !element.classList.toggle("folded");
      button.setAttribute("aria-expanded", String(open));
      button.textContent = open ? "Show less" : label;
    },
  }, label);
  return [element, button];
}
