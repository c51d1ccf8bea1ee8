/** Searching, with the settings in force, or beside it with others. */

import { Column } from "./column.js";
import { byId, el, say } from "./dom.js";
import { readingOf } from "./pictures.js";
import * as asked from "./question.js";
import { SettingsForm } from "./settings.js";

const single = new Column("Answer");
const settings = new SettingsForm(() => isComparing && asked.question() && askRight());
const left = new Column("With the settings in force", el("h2", {}, "Settings in force"),
  el("p", { class: "faint" }, "As this service is set, and as it answers others."));
const right = new Column("With other settings", el("h2", {}, "Other settings"), settings.element);

let user = null;
let isComparing = false;
let isAnswered = { single: false, both: false }; // whether the question in the form is

export function start() {
  byId("single").append(single.element);
  byId("both").append(left.element, right.element);
  asked.start(ask, forget);
}

/** Show the search of a user; `comparing`: with two columns. */
export function show(place) {
  if (place.user !== user) clear();
  user = place.user;
  isComparing = place.view === "compare";
  byId("single").hidden = isComparing;
  byId("both").hidden = !isComparing;
  if (isComparing) settings.load();
  const wasAsked = isAnswered.single || isAnswered.both;
  if (wasAsked && !isAnswered[isComparing ? "both" : "single"]) ask();
}

export function clear() {
  user = null;
  forget();
}

function forget() {
  isAnswered = { single: false, both: false };
  single.tell(hint());
  left.clear();
  right.clear();
}

const hint = () => el("p", { class: "faint hint" },
  "Enter asks, Shift+Enter begins a new line. Drop a picture anywhere, or paste one, to ask with it.");

async function ask() {
  const question = asked.question();
  if (user === null) return say("The picture waits: choose a user to ask with it.");
  if (!question) {
    byId("ask").focus();
    return say("Type a question, or add a picture.");
  }
  isAnswered = { single: !isComparing, both: isComparing };
  if (isComparing) {
    await Promise.all([askLeft(question), askRight(question)]);
    return;
  }
  const answer = await single.ask({ ...question, user_id: user }, ask);
  if (answer) asked.tellReadings(answer.query_pictures.map(readingOf));
}

async function askLeft(question) {
  const answer = await left.ask({ ...question, user_id: user }, () => askLeft(question));
  if (answer) asked.tellReadings(answer.query_pictures.map(readingOf));
  compare();
}

async function askRight(question = asked.question()) {
  settings.clearProblem();
  const changed = settings.changed();
  const body = { ...question, user_id: user };
  await right.ask(
    changed ? { ...body, settings: changed } : body,
    () => askRight(question),
    (failure) => settings.tellProblem(failure),
  );
  compare();
}

function compare() {
  left.compareWith(right);
  right.compareWith(left);
}
