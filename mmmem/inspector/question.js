/** What is asked: text, pictures, options, and how many memories are wanted. */

import { byId, el, say } from "./dom.js";

const PICTURE = /^image\//;
const PICTURE_NAME = /\.(heic|heif|tiff?|avif|webp|bmp|gif|png|jpe?g)$/i;

/** @type {Array<{url: string, thumb: HTMLElement, reading: HTMLElement}>} */
const pictures = [];
let ask = () => {};
let forget = () => {};

/** @param {() => void} onAsk @param {() => void} onNothing when nothing is left of a question */
export function start(onAsk, onNothing) {
  ask = onAsk;
  forget = onNothing;
  const form = byId("question");
  const text = byId("ask");
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    ask();
  });
  text.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    ask();
  });
  text.addEventListener("input", () => fit(text));
  byId("pick-file").addEventListener("click", () => byId("file").click());
  byId("file").addEventListener("change", (event) => {
    take([...event.target.files]);
    event.target.value = "";
  });
  byId("show-options").addEventListener("click", (event) => {
    const hidden = byId("options-field").toggleAttribute("hidden");
    event.target.setAttribute("aria-expanded", String(!hidden));
    if (!hidden) byId("options").focus();
  });
}

function fit(text) {
  text.style.height = "auto";
  text.style.height = `${Math.min(text.scrollHeight + 2, 240)}px`;
}

/** Ask with these files, where they are pictures. */
export async function take(files) {
  const fitting = files.filter((file) => PICTURE.test(file.type) || (!file.type && PICTURE_NAME.test(file.name)));
  if (fitting.length < files.length) say(fitting.length ? "What is no picture was left out." : "That is no picture.");
  if (!fitting.length) return;
  try {
    (await Promise.all(fitting.map(read))).forEach(addPicture);
  } catch {
    say("That file cannot be read.");
    return;
  }
  ask();
}

const read = (file) =>
  new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve({ url: reader.result, name: file.name || "pasted picture" });
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(file);
  });

function addPicture({ url, name }) {
  const image = el("img", { src: url, alt: name });
  image.addEventListener("error", () => image.replaceWith(el("span", { class: "faint" }, name)));
  const reading = el("div", { class: "seen" });
  const picture = { url, reading };
  picture.thumb = el("li", {}, image, reading,
    el("button", { type: "button", class: "quiet remove", "aria-label": `Remove ${name}`, title: "Remove", onclick: () => drop(picture) }, "×"));
  pictures.push(picture);
  byId("thumbs").append(picture.thumb);
  byId("thumbs").hidden = false;
}

function drop(picture) {
  pictures.splice(pictures.indexOf(picture), 1);
  picture.thumb.remove();
  byId("thumbs").hidden = pictures.length === 0;
  byId("ask").focus();
  if (pictures.length || byId("ask").value.trim()) ask();
  else forget();
}

/** Say at each picture of the question what it was taken for. */
export function tellReadings(readings) {
  pictures.forEach(({ reading }, n) => reading.replaceChildren(...(readings[n] ? [readings[n]] : [])));
}

/** The body of a Search, without the user; null where nothing is asked. */
export function question() {
  const text = byId("ask").value;
  if (!text.trim() && !pictures.length) return null;
  const options = byId("options-field").hidden ? [] : byId("options").value.split("\n").filter((line) => line.trim());
  const parts = [
    ...(text.trim() ? [{ type: "text", text }] : []),
    ...pictures.map(({ url }) => ({ type: "image_url", image_url: { url } })),
  ];
  return {
    query: pictures.length ? parts : text,
    top_k: Math.max(1, Math.floor(Number(byId("top-k").value)) || 10),
    options: options.length ? options : null,
  };
}
