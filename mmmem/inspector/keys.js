/** The keyboard. Single keys count only where nothing is typed. */

import { modal } from "./dialog.js";
import { byId, el, isTyping } from "./dom.js";
import { go, here } from "./place.js";

const KEYS = [
  ["/", "go to the question"],
  ["j, ↓", "next memory"],
  ["k, ↑", "previous memory"],
  ["Enter", "on a hit: its details"],
  ["Delete", "on a memory: delete it, after a question"],
  ["t, s, c", "timeline, search, compare"],
  ["u", "all users"],
  ["Esc", "close a dialog, leave a field"],
  ["?", "these keys"],
];

const cards = () => [...document.querySelectorAll("article.memory, article.hit")].filter((card) => card.checkVisibility());

function step(by) {
  const all = cards();
  const now = all.indexOf(document.activeElement?.closest("article"));
  const next = now < 0 ? all.find((card) => card.getBoundingClientRect().bottom > 80) : all[now + by];
  next?.focus({ preventScroll: true });
  next?.scrollIntoView({ block: "nearest" });
}

const view = (name) => here().user !== null && go({ user: here().user, view: name });

function search() {
  if (here().user === null) return byId("user-id").focus();
  if (!byId("search").hidden) return byId("ask").focus();
  addEventListener("hashchange", () => byId("ask").focus(), { once: true }); // when the search is there
  view("search");
}

export const showKeys = () =>
  modal({
    id: "keys",
    title: "Keyboard",
    body: [el("dl", {}, KEYS.flatMap(([key, does]) => [el("dt", {}, key.split(", ").map((one) => el("kbd", {}, one))), el("dd", {}, does)]))],
    cancel: "Close",
  });

const DOES = {
  "/": search, "?": showKeys,
  j: () => step(1), k: () => step(-1),
  t: () => view("timeline"), s: () => view("search"), c: () => view("compare"), u: () => go({}),
};

export function start() {
  byId("show-keys").addEventListener("click", showKeys);
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || document.querySelector("dialog[open]")) return;
    if (isTyping(event.target)) {
      if (event.key === "Escape") event.target.blur();
      return;
    }
    const does = DOES[event.key] ?? onCard(event);
    if (!does) return;
    event.preventDefault();
    does();
  });
}

function onCard({ key, target }) {
  if (!target.matches("article")) return null;
  const press = (button) => () => target.querySelector(button)?.click();
  return {
    ArrowDown: () => step(1), ArrowUp: () => step(-1),
    Enter: press(".why"), Delete: press("button.danger"),
  }[key];
}
