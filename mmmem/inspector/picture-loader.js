/** Brings the pictures of those memories that are near the screen, a few at a time, and gives them back when they are far away. */

import * as api from "./api.js";
import { isAbort } from "./notice.js";
import { fill, forgetAll, miss } from "./pictures.js";

const AT_ONCE = 4;
const NEAR = "600px 0px";

export class PictureLoader {
  #user;
  #ids = new Map();
  #near = new Set();
  #wanted = new Set();
  #loading = new Set();
  #aborting = new AbortController();
  #watch = new IntersectionObserver((entries) => this.#look(entries), { rootMargin: NEAR });

  constructor(user) {
    this.#user = user;
  }

  /** Bring the pictures of this memory whenever its card is near. */
  observe(card, id) {
    this.#ids.set(card, id);
    this.#watch.observe(card);
  }

  /** This card leaves the page. */
  drop(card) {
    this.#watch.unobserve(card);
    this.#leave(card);
    this.#ids.delete(card);
  }

  close() {
    this.#watch.disconnect();
    this.#aborting.abort();
    this.#ids.forEach((_, card) => forgetAll(card));
  }

  #look(entries) {
    for (const { target, isIntersecting } of entries) {
      if (isIntersecting) {
        this.#near.add(target);
        this.#wanted.add(target);
      } else {
        this.#leave(target);
      }
    }
    this.#next();
  }

  #leave(card) {
    this.#near.delete(card);
    this.#wanted.delete(card);
    forgetAll(card);
  }

  #next() {
    for (const card of this.#wanted) {
      if (this.#loading.size >= AT_ONCE) return;
      if (this.#loading.has(card)) continue;
      this.#wanted.delete(card);
      this.#load(card);
    }
  }

  async #load(card) {
    this.#loading.add(card);
    const places = [...card.querySelectorAll("figure.picture")];
    try {
      const { content } = await api.memory(this.#user, this.#ids.get(card), this.#aborting.signal);
      const urls = typeof content === "string" ? [] : content.filter((part) => part.type === "image_url").map((part) => part.image_url.url);
      if (this.#near.has(card)) places.forEach((place, n) => (urls[n] ? fill(place, urls[n]) : miss(place, "Too large for an answer of this service.")));
    } catch (error) {
      if (!isAbort(error)) places.forEach((place) => miss(place, error.status === 404 ? "Deleted meanwhile." : "Could not be loaded."));
    }
    this.#loading.delete(card);
    this.#next();
  }
}
