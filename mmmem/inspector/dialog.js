/** Modal dialogs. Esc closes; what had the focus gets it back. */

import { el } from "./dom.js";

let count = 0;

/**
 * Show a dialog until it is answered.
 * @param {{id?: string, title: string, body: Array, accept?: string, cancel?: string, danger?: boolean,
 *          focus?: HTMLElement, allowed?: () => boolean}} shown
 *   `focus`: what is focused first, else Cancel; `allowed`: whether accepting may go on, asked at every input
 * @returns {Promise<boolean>} whether it was accepted
 */
export function modal({ id, title, body, accept, cancel = "Cancel", danger = false, focus, allowed }) {
  const heading = `dialog-title-${++count}`;
  const accepting = accept && el("button", { class: danger ? "danger main" : "main", value: "accept", type: "submit" }, accept);
  const cancelling = el("button", { type: "button", onclick: () => dialog.close() }, cancel);
  const form = el("form", { method: "dialog" },
    el("h2", { id: heading }, title), body, el("div", { class: "row answers" }, cancelling, accepting));
  const dialog = el("dialog", { id, "aria-labelledby": heading }, form);
  const check = () => accepting && (accepting.disabled = allowed ? !allowed() : false);
  form.addEventListener("input", check);
  form.addEventListener("submit", (event) => {
    event.preventDefault(); // CSP forbids forms to go anywhere, method=dialog included
    if (accepting && !accepting.disabled) dialog.close("accept");
  });
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  document.body.append(dialog);
  check();
  dialog.showModal();
  (focus ?? cancelling).focus();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue === "accept");
    });
  });
}
