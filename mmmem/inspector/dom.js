/** Elements without a line of HTML: what was stored is only ever a text node. */

/**
 * @param {string} tag
 * @param {object} [props] attributes; `onclick` and the like are listeners; null, undefined and false are left out
 * @param {...(Node|string|null|false|Array)} children
 */
export function el(tag, props = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

export const byId = (id) => document.getElementById(id);

let quiet;

/** Say something in passing, to eyes and to screen readers. */
export function say(text) {
  const said = byId("said");
  said.textContent = text;
  clearTimeout(quiet);
  quiet = setTimeout(() => (said.textContent = ""), 6000);
}

/** Whether the key was meant for a field and not for the page. */
export const isTyping = (target) => target.closest?.("input, textarea, select") !== null;
