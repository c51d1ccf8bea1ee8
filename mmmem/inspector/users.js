/** Who is there: a field for the exact id, and a list that loads on as one scrolls. */

import * as api from "./api.js";
import { byId, el } from "./dom.js";
import { EndlessList } from "./endless.js";
import { counted, shown, titled } from "./format.js";
import { go, link } from "./place.js";

let list = null;

export function start() {
  byId("pick").addEventListener("submit", (event) => {
    event.preventDefault();
    const user = byId("user-id").value;
    if (user) go({ user });
  });
}

export function show() {
  list?.close();
  byId("users-total").textContent = "";
  byId("users-list").replaceChildren();
  list = new EndlessList(byId("users-end"), api.users, add);
}

function add({ data, total }, isFirst) {
  if (isFirst) byId("users-total").textContent = total ? counted(total, "user") : "";
  if (isFirst && !data.length) {
    return el("div", { class: "empty" },
      el("p", {}, "Nothing is stored yet."),
      el("p", { class: "faint" }, "Tell the service something: POST /add, mmmem add, or Client.add. Then load this page again."));
  }
  byId("users-list").append(...data.map(entry));
  return null;
}

const entry = ({ user_id: user, memories }) =>
  el("li", {},
    el("a", { href: link({ user }), title: titled(user) },
      el("bdi", { class: "id" }, shown(user)),
      el("span", { class: "faint" }, counted(memories, "memory", "memories"))));
