/** One memory of the timeline. */

import { el } from "./dom.js";
import { folded } from "./folding.js";
import { clock, day } from "./format.js";
import { slot } from "./pictures.js";

const NOTE = "(a picture that this answer has no room for)";

/** The text of a memory that came without its pictures: a note stands for each. */
export function textOf({ content, images }) {
  const text = typeof content === "string" ? content : content.filter((part) => part.type === "text").map((part) => part.text).join("\n");
  if (!images) return text;
  let notes = images;
  return text.split("\n").filter((line) => line !== NOTE || notes-- <= 0).join("\n");
}

/** The class of a role: the usual ones have colours. */
export const roleClass = (role) => "role" + ({ user: " of-user", assistant: " of-assistant", system: " of-system" }[role] ?? "");

/** @param {() => void} onDelete */
export function card(memory, onDelete) {
  const text = textOf(memory);
  const at = memory.created_at;
  const time = memory.timestamp === null ? `added ${clock(at)}` : clock(at);
  const name = `${memory.role}, ${day(at)} ${clock(at)}`;
  return el("article", { class: "memory", tabindex: "-1", "data-id": memory.id, "aria-label": name },
    el("header", {},
      el("bdi", { class: roleClass(memory.role) }, memory.role),
      el("time", { datetime: at, title: at, class: "faint" }, time),
      memory.piece > 0 && el("span", { class: "faint" }, `piece ${memory.piece + 1} of a long message`),
      el("button", { type: "button", class: "danger quiet delete", "aria-label": `Delete: ${name}`, onclick: onDelete }, "Delete…")),
    text && folded(el("p", { class: "text", dir: "auto" }, text), text),
    memory.images > 0 && el("div", { class: "pictures" },
      Array.from({ length: memory.images }, (_, n) => slot(`Picture ${n + 1} of ${memory.images}`))));
}
