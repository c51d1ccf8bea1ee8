/** A user's memories by time, under headings of day and session, loaded part by part. */

import * as api from "./api.js";
import { isStep } from "./address.js";
import * as confirm from "./confirm.js";
import { byId, el } from "./dom.js";
import { EndlessList } from "./endless.js";
import { counted, day, shown, size, titled } from "./format.js";
import { card, textOf } from "./memory.js";
import { PictureLoader } from "./picture-loader.js";
import { go, link } from "./place.js";

const PART = 50;
const MOST_PARTS = 100; // that are loaded to come to one memory

let shownPlace = null; // what is in the page
let list = null;
let pictures = null;
let run = null; // of memories of one day and session: the last one in the page

export function start() {
  byId("order").addEventListener("change", (event) => go({ ...shownPlace, at: null, order: event.target.value }));
  byId("session-form").addEventListener("submit", (event) => {
    event.preventDefault();
    go({ ...shownPlace, at: null, session: byId("session").value });
  });
  byId("session-clear").addEventListener("click", () => go({ ...shownPlace, at: null, session: null }));
  byId("delete-user").addEventListener("click", async () => {
    if (!(await confirm.deleteUser(shownPlace.user))) return;
    clear();
    go({});
  });
}

/** Show the memories of a place, unless they are there already. */
export function show(place) {
  const same = shownPlace && ["user", "session", "order"].every((field) => place[field] === shownPlace[field]);
  if (!same) open(place);
  shownPlace = place;
  if (place.at) find(place.at);
}

export function clear() {
  list?.close();
  pictures?.close();
  list = pictures = run = shownPlace = null;
  byId("memories").replaceChildren();
}

function open(place) {
  clear();
  shownPlace = place;
  byId("order").value = place.order;
  byId("session").value = place.session ?? "";
  byId("session-clear").hidden = place.session === null;
  pictures = new PictureLoader(place.user);
  byId("timeline-facts").textContent = "\u00a0";
  byId("delete-user").hidden = false;
  const asked = { user_id: place.user, limit: PART, order: place.order, session_id: place.session };
  list = new EndlessList(byId("memories-end"), (after, signal) => api.page({ ...asked, after }, signal), add);
}

async function tellFacts(user) {
  const facts = byId("timeline-facts");
  if (!isStep(user)) return;
  const usage = await api.usage(user).catch(() => null); // the list says what is wrong
  if (usage === null || shownPlace?.user !== user) return;
  byId("delete-user").hidden = usage.memories === 0;
  facts.textContent = usage.memories === 0 ? "" : [
    counted(usage.memories, "memory", "memories"),
    counted(usage.sessions, "session"),
    usage.images > 0 && counted(usage.images, "picture"),
    `${size(usage.bytes)} on disk`,
    day(usage.first) === day(usage.last) ? day(usage.first) : `${day(usage.first)} to ${day(usage.last)}`,
  ].filter(Boolean).join(" · ");
}

function add({ data, total, next }, isFirst) {
  if (isFirst) tellFacts(shownPlace.user);
  if (isFirst && !data.length) return nothing();
  for (const memory of data) {
    const key = JSON.stringify([day(memory.created_at), memory.session_id]);
    if (run?.key !== key) run = begin(key, memory);
    const one = card(memory, () => remove(memory, one));
    run.element.append(one);
    if (memory.images > 0) pictures.observe(one, memory.id);
  }
  return next === null ? el("p", { class: "faint" }, `That was all: ${counted(total, "memory", "memories")}.`) : null;
}

function begin(key, { created_at: at, session_id: session }) {
  const element = el("section", { class: "run" },
    el("h2", {},
      el("time", { datetime: at.slice(0, at.indexOf("T")) }, day(at)),
      el("a", { class: "session", href: link({ ...shownPlace, at: null, session }), title: `Only session ${titled(session)}` },
        el("bdi", {}, shown(session, 40)))));
  byId("memories").append(element);
  return { key, element };
}

function nothing() {
  const { user, session } = shownPlace;
  return el("div", { class: "empty" }, session === null
    ? el("p", {}, "Nothing is stored of ", el("strong", { class: "id", title: titled(user), dir: "auto" }, shown(user)), ".")
    : el("p", {}, "This user has no memories in session ", el("strong", { class: "id", title: titled(session), dir: "auto" }, shown(session)), "."),
  el("p", { class: "faint" }, session === null ? "Ids are compared exactly, blanks and capitals included." : ""));
}

async function remove(memory, one) {
  const { user } = shownPlace;
  if (!(await confirm.deleteMemory(user, memory.id, textOf(memory)))) return;
  takeOut(one);
  tellFacts(user);
}

function takeOut(one) {
  const next = one.nextElementSibling ?? one.parentElement.nextElementSibling?.querySelector("article");
  const section = one.parentElement;
  pictures.drop(one);
  one.remove();
  if (!section.querySelector("article")) {
    if (run?.element === section) run = null;
    section.remove();
  }
  next?.focus({ preventScroll: true });
}

/** Load until a memory is there, and show it. */
async function find(id) {
  const wanted = list;
  const found = () => byId("memories").querySelector(`article[data-id="${CSS.escape(id)}"]`);
  for (let part = 0; part < MOST_PARTS && wanted === list && !found() && !wanted.isDone && !wanted.failed; part++) await wanted.more();
  if (wanted !== list) return;
  const one = found();
  byId("memories").querySelector(".found")?.classList.remove("found");
  one?.classList.add("found");
  one?.scrollIntoView({ block: "center" });
  one?.focus({ preventScroll: true });
}

/** A memory was deleted elsewhere in the page. */
export function forget(id) {
  const one = byId("memories").querySelector(`article[data-id="${CSS.escape(id)}"]`);
  if (one) takeOut(one);
  if (shownPlace) tellFacts(shownPlace.user);
}
