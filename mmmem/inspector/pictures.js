/** Pictures as they were stored: shown small, opened large, read from data: URLs into memory that is given back. */

import { modal } from "./dialog.js";
import { el } from "./dom.js";
import { size } from "./format.js";

// A browser finds out by itself which of these it is; of any other type a page of this origin could be made.
const RASTER = ["image/jpeg", "image/webp", "image/gif", "image/bmp", "image/avif", "image/tiff", "image/heic"];

const MOST_READ = 160; // characters of what is written in a picture

/** @returns {{address: string, type: string, bytes: number}|null} null for what is no data: URL in Base64 */
function unpack(url) {
  const comma = url.indexOf(",");
  if (!url.startsWith("data:") || comma < 0) return null;
  const declared = url.slice(5, comma).split(";")[0].trim().toLowerCase();
  const type = RASTER.includes(declared) ? declared : "image/png";
  try {
    const data = Uint8Array.from(atob(url.slice(comma + 1)), (character) => character.charCodeAt(0));
    return { address: URL.createObjectURL(new Blob([data], { type })), type, bytes: data.length };
  } catch {
    return null;
  }
}

/** A place for a picture, still empty. `reading`: what /explain says of it. */
export function slot(name, reading = null) {
  const figure = el("figure", { class: "picture" }, el("div", { class: "frame", "aria-hidden": "true" }));
  figure.dataset.name = reading?.labels.length ? `${name}: ${reading.labels.join(", ")}` : name;
  const caption = reading && readingOf(reading);
  if (caption) figure.append(el("figcaption", {}, caption));
  return figure;
}

/** Whether what is written in a picture is too much to stand below it. */
export const isCut = (text) => text.length > MOST_READ;

/** What a picture was taken for and what is written in it; null for neither. */
export function readingOf({ labels, text }) {
  if (!labels.length && !text) return null;
  return el("div", { class: "reading" },
    labels.length > 0 && el("p", {}, el("span", { class: "faint" }, "looks like "), el("span", { class: "labels" }, labels.join(", "))),
    text && el("p", {}, el("span", { class: "faint" }, "reads "), el("q", { class: "written", dir: "auto" },
      isCut(text) ? text.slice(0, MOST_READ) + "…" : text)));
}

/** Fill a place with the picture of a data: URL. */
export function fill(figure, url) {
  forget(figure);
  const unpacked = unpack(url);
  if (!unpacked) return miss(figure, "This picture cannot be read.");
  const { address, type, bytes } = unpacked;
  const image = el("img", { src: address, alt: figure.dataset.name, decoding: "async" });
  image.addEventListener("error", () =>
    miss(figure, `This browser cannot show ${type}.`, el("a", { href: address, download: "picture" }, `Save (${size(bytes)})`)));
  const name = `${figure.dataset.name}; open`;
  figure.dataset.address = address;
  figure.firstElementChild.replaceWith(
    el("button", { type: "button", class: "frame", "aria-label": name, onclick: () => enlarge(figure.dataset.name, address) }, image));
}

/** Say in the place of a picture why it is not there. */
export function miss(figure, ...why) {
  figure.firstElementChild.replaceWith(el("div", { class: "frame missing" }, ...why));
}

/** Give a picture's memory back. The place stays. */
export function forget(figure) {
  if (!figure.dataset.address) return;
  URL.revokeObjectURL(figure.dataset.address);
  delete figure.dataset.address;
  figure.firstElementChild.replaceWith(el("div", { class: "frame", "aria-hidden": "true" }));
}

export const forgetAll = (within) => within.querySelectorAll("figure.picture").forEach(forget);

const enlarge = (name, address) =>
  modal({ id: "large", title: name, body: [el("img", { src: address, alt: name })], cancel: "Close" });
