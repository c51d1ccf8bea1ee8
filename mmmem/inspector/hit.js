/** One memory of an answer, and why it came. */

import { chart, tokenList } from "./chart.js";
import { el } from "./dom.js";
import { folded } from "./folding.js";
import { clock, day, score, shown, titled } from "./format.js";
import { marked } from "./marks.js";
import { roleClass } from "./memory.js";
import { fill, isCut, readingOf, slot } from "./pictures.js";

const TIME = /^\[-?\d+-\d\d-\d\d \d\d:\d\d\] /;
const TURN = /^\((before|after) this\) /;

/** The first text of a hit is `[time] role: what was said`, and the turns around it on lines of their own. */
function taken(text, role) {
  const lines = text.split("\n");
  let end = lines.length;
  while (end > 1 && TURN.test(lines[end - 1])) end--;
  const told = lines.slice(0, end).join("\n");
  const hasTime = TIME.test(told) && told.replace(TIME, "").startsWith(`${role}:`);
  const said = hasTime ? told.replace(TIME, "") : told;
  return { hasTime, said: said.slice(role.length + 1).replace(/^ /, ""), turns: lines.slice(end) };
}

function partsOf({ content, role }) {
  const parts = typeof content === "string" ? [{ type: "text", text: content }] : content;
  const texts = parts.filter((part) => part.type === "text").map((part) => part.text);
  const first = taken(texts[0] ?? "", role);
  return {
    ...first,
    text: [first.said, ...texts.slice(1)].filter((text) => text).join("\n"),
    urls: parts.filter((part) => part.type === "image_url").map((part) => part.image_url.url),
  };
}

/**
 * @param {object} found of /explain
 * @param {number} place from 1
 * @param {{scale: object, onDelete: (text: string, hit: HTMLElement) => void, onSession: () => void}} around
 */
export function hit(found, place, { scale, onDelete, onSession }) {
  const { hasTime, text, turns, urls } = partsOf(found);
  const { created_at: at, role, session_id: session } = found;
  const more = el("div", { class: "more", hidden: true }, tokenList(found.tokens), scans(found), ids(found));
  const why = el("button", { type: "button", class: "quiet why", "aria-expanded": "false", onclick: () => open() }, "Details");
  const element = el("article", {
    class: "hit", tabindex: "-1", "data-id": found.id, "aria-label": `${place}: ${role}, ${day(at)} ${clock(at)}`,
  },
  el("div", { class: "place", "aria-hidden": "true" }, String(place)),
  el("div", { class: "told" },
    el("header", {},
      el("bdi", { class: roleClass(role) }, shown(role, 40)),
      el("time", { datetime: at, class: "faint", title: at }, `${hasTime ? "" : "added "}${day(at)}, ${clock(at)}`),
      el("bdi", { class: "faint", title: `session ${titled(session)}` }, shown(session, 32)),
      el("span", { class: "moved" }),
      el("span", { class: "score faint", title: "The score of /search; comparable within this answer only" }, score(found.score))),
    text && folded(el("p", { class: "text", dir: "auto" }, marked(text, found.tokens)), text),
    picturesOf(found, urls),
    turns.length > 0 && el("div", { class: "turns faint" }, turns.map(turn))),
  el("div", { class: "because" }, chart(found, scale)),
  more,
  el("footer", {}, why,
    el("button", { type: "button", class: "quiet", onclick: onSession }, "Show in timeline"),
    el("button", { type: "button", class: "danger quiet", onclick: () => onDelete(text, element) }, "Delete…")));

  function open() {
    const isOpen = element.classList.toggle("open");
    more.hidden = !isOpen;
    why.setAttribute("aria-expanded", String(isOpen));
    why.textContent = isOpen ? "Less" : "Details";
  }
  return element;
}

function turn(line) {
  const [mark, when] = TURN.exec(line);
  return el("p", { dir: "auto" }, el("span", { class: "when" }, `${when} `), line.slice(mark.length));
}

function picturesOf(found, urls) {
  const count = Math.max(urls.length, found.pictures.length);
  if (!count) return null;
  return el("div", { class: "pictures" }, Array.from({ length: count }, (_, n) => {
    const reading = found.pictures[n] ?? null;
    if (!urls[n]) return el("figure", { class: "picture" }, el("div", { class: "frame missing" }, "No room in this answer; the timeline has it."),
      reading && el("figcaption", {}, readingOf(reading)));
    const place = slot(`Picture ${n + 1} of ${count}`, reading);
    fill(place, urls[n]);
    return place;
  }));
}

/** What is written in the pictures, where it is too much to stand below them. */
const scans = ({ pictures }) =>
  pictures.filter(({ text }) => isCut(text)).map(({ text }) =>
    el("div", {}, el("h4", {}, "Written in the picture"), folded(el("p", { class: "scan", dir: "auto" }, text), text)));

const ids = (found) => el("p", { class: "faint ids" }, "id ", el("code", {}, found.id));
