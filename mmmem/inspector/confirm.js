/** Deleting, never without being asked. */

import * as api from "./api.js";
import { isStep } from "./address.js";
import { modal } from "./dialog.js";
import { el, say } from "./dom.js";
import { count, counted, shown, titled } from "./format.js";
import { sentence } from "./notice.js";

/** @returns {Promise<boolean>} whether the memory is gone */
export async function deleteMemory(user, id, text) {
  const excerpt = text.length > 300 ? text.slice(0, 300) + "…" : text;
  const sure = await modal({
    id: "confirm",
    title: "Delete this memory?",
    body: [
      el("blockquote", { dir: "auto" }, excerpt || "(pictures alone)"),
      el("p", { class: "faint" }, "It goes from the disk, any pictures with it, and cannot be brought back. ", el("code", {}, shown(id, 24))),
    ],
    accept: "Delete memory",
    danger: true,
  });
  return sure && attempt(
    async () => (await api.deleteMemory(user, id)).deleted,
    "The memory is deleted.",
    "That memory was gone already.",
  );
}

/** @returns {Promise<boolean>} whether nothing of the user is left */
export async function deleteUser(user) {
  if (!isStep(user)) return refuse("A browser cannot name this user in an address. Use: mmmem purge --user");
  const usage = await api.usage(user).catch((error) => refuse(sentence(error)));
  if (!usage) return false;
  const typed = el("input", { id: "confirm-count", inputmode: "numeric", autocomplete: "off" });
  const sure = await modal({
    id: "confirm",
    title: "Delete everything of this user?",
    body: [
      el("p", {}, el("strong", { class: "id", title: titled(user), dir: "auto" }, shown(user))),
      el("p", {},
        `${counted(usage.memories, "memory", "memories")}, ${counted(usage.images, "picture")}, ${counted(usage.sessions, "session")}. `,
        "They go from the disk, and cannot be brought back."),
      el("label", { for: "confirm-count" }, `Type the number of memories (${usage.memories}) to delete them`),
      typed,
    ],
    accept: `Delete ${count(usage.memories)}`,
    danger: true,
    allowed: () => typed.value.trim() === String(usage.memories),
  });
  return sure && attempt(
    async () => (await api.deleteUser(user)).deleted,
    `Everything of ${shown(user, 30)} is deleted.`,
    "There was nothing of this user.",
  );
}

async function attempt(call, done, gone) {
  try {
    say((await call()) ? done : gone);
    return true;
  } catch (error) {
    return refuse(sentence(error));
  }
}

async function refuse(reason) {
  await modal({ id: "refused", title: "Nothing was deleted", body: [el("p", { class: "problem" }, reason)], cancel: "Close" });
  return false;
}
