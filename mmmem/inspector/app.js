/** The page: which of its views is shown. */

import { byId } from "./dom.js";
import * as dropping from "./dropping.js";
import { shown, titled } from "./format.js";
import * as keys from "./keys.js";
import { go, here, link } from "./place.js";
import * as question from "./question.js";
import * as search from "./search.js";
import * as theme from "./theme.js";
import * as timeline from "./timeline.js";
import * as users from "./users.js";

const SECTIONS = { users, timeline, search };
const scrolled = {}; // how far each view was
let now = null; // the section that is shown

function route() {
  const place = here();
  const section = place.user === null ? "users" : place.view === "timeline" ? "timeline" : "search";
  if (now) scrolled[now] = scrollY;
  for (const name of Object.keys(SECTIONS)) byId(name).hidden = name !== section;
  tellPlace(place);
  if (now !== section) scrollTo(0, scrolled[section] ?? 0);
  now = section;
  SECTIONS[section].show(place);
}

function tellPlace({ user, view }) {
  const who = byId("who");
  who.textContent = user === null ? "" : shown(user, 32);
  who.title = user === null ? "" : `${titled(user)} — choose another user`;
  who.hidden = byId("views").hidden = user === null;
  for (const tab of byId("views").children) {
    tab.href = link({ user, view: tab.dataset.view });
    if (tab.dataset.view === view) tab.setAttribute("aria-current", "page");
    else tab.removeAttribute("aria-current");
  }
  document.title = user === null ? "mmmem inspector" : `${shown(user, 32)}: ${view} — mmmem inspector`;
}

function take(files) {
  const { user, view } = here();
  if (user !== null && view === "timeline") {
    go({ user, view: "search" });
    addEventListener("hashchange", () => question.take(files), { once: true });
  } else {
    question.take(files);
  }
}

history.scrollRestoration = "manual"; // the browser would scroll before there is anything to scroll
theme.start();
keys.start();
timeline.start();
users.start();
search.start();
dropping.start(take);
addEventListener("hashchange", route);
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault(); // the address holds the place
  byId("content").focus();
});
route();
