/** The key: asked for when the service wants one, kept for this tab alone, sent in the way that the service names. */

import { modal } from "./dialog.js";
import { el } from "./dom.js";

const NAME = "mmmem-key";
const WAY = "mmmem-key-way";
const WAYS = [["x-api-key", "X-Api-Key:"], ["bearer", "Bearer"], ["token", "Token"]];

const kept = { [NAME]: null, [WAY]: null }; // where a browser keeps nothing, as long as the page is open
let asking = null;

function read(name) {
  try {
    return sessionStorage.getItem(name) ?? kept[name];
  } catch {
    return kept[name];
  }
}

function keep(name, value) {
  kept[name] = value;
  try {
    sessionStorage.setItem(name, value);
  } catch {
    // blocked: the copy above serves
  }
}

export const current = () => read(NAME);

/** Headers hold bytes: those of UTF-8, each as the character of its number. */
const bytesOf = (text) => String.fromCharCode(...new TextEncoder().encode(text));

/** @returns {Record<string, string>} what a request carries */
export function headers() {
  const key = current();
  if (!key) return {};
  const way = read(WAY);
  if (way === "bearer" || way === "token") return { Authorization: `${way === "token" ? "Token" : "Bearer"} ${bytesOf(key)}` };
  return { "X-Api-Key": bytesOf(key) };
}

/**
 * Ask for a key after a request that carried `sent` was refused for `reason`.
 * @returns {Promise<boolean>} whether there is another one to try with
 */
export async function demand(sent, reason) {
  if (current() !== sent) return true; // given meanwhile, for another request
  const way = WAYS.find(([, mark]) => reason.includes(mark));
  if (way) keep(WAY, way[0]);
  asking ??= ask(sent !== null).finally(() => (asking = null));
  return asking;
}

async function ask(wasWrong) {
  const field = el("input", {
    type: "password", id: "key", autocomplete: "off", required: true, "aria-describedby": "key-note",
    "aria-invalid": wasWrong, "aria-errormessage": wasWrong && "key-wrong",
  });
  const given = await modal({
    id: "key-dialog",
    title: "This service asks for a key",
    body: [
      wasWrong && el("p", { class: "problem", role: "alert", id: "key-wrong" }, "That key is wrong. The service does not know it."),
      el("label", { for: "key" }, "Key"),
      field,
      el("p", { class: "faint", id: "key-note" },
        "Kept in this tab’s session storage only, and gone when the tab is closed. It is the value of MMMEM_API_KEY."),
    ],
    accept: "Unlock",
    focus: field,
  });
  const key = field.value.trim();
  if (!given || !key) return false;
  if (/[\0-\x08\x0a-\x1f\x7f]/.test(key)) return ask(true); // no header can carry these
  keep(NAME, key);
  return true;
}
