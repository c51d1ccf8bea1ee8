/** One answer on the page: asks, shows the hits, and never lets an older answer replace a newer one. */

import * as api from "./api.js";
import { scaleOf } from "./chart.js";
import * as confirm from "./confirm.js";
import { el, say } from "./dom.js";
import { counted, duration } from "./format.js";
import { hit } from "./hit.js";
import { isAbort, problem, sentence } from "./notice.js";
import { forgetAll } from "./pictures.js";
import { go } from "./place.js";
import * as timeline from "./timeline.js";

export class Column {
  element;
  #state = el("p", { class: "state faint", "aria-live": "polite" });
  #hits = el("div", { class: "hits" });
  #asking = null;

  /** @param {string} title @param {...Node} above between the title and the hits */
  constructor(title, ...above) {
    this.element = el("section", { class: "column", "aria-label": title }, ...above, this.#state, this.#hits);
  }

  clear() {
    this.#asking?.abort();
    this.#asking = null;
    this.element.removeAttribute("aria-busy");
    this.#replace();
    this.#state.textContent = "";
  }

  /** Say in place of an answer what comes first. */
  tell(...what) {
    this.clear();
    this.#replace(...what);
  }

  /**
   * @param {object} question the body of /explain
   * @param {() => void} retry asks again, after a failure
   * @param {(failure: object) => boolean} [placed] whether a failure was shown elsewhere
   * @returns {Promise<object|null>} the answer, once it is on the page; null where there is none, or a newer question
   */
  async ask(question, retry, placed = () => false) {
    this.#asking?.abort();
    const asking = (this.#asking = new AbortController());
    this.element.setAttribute("aria-busy", "true");
    this.#state.textContent = "Looking…";
    const begun = performance.now();
    try {
      const answer = await api.explain(question, asking.signal);
      if (this.#asking !== asking) return null;
      this.#show(question.user_id, answer.data);
      const spent = duration(performance.now() - begun);
      this.#state.textContent = answer.data.length ? `${counted(answer.data.length, "memory", "memories")}, best first · ${spent}` : "";
      return answer;
    } catch (error) {
      if (isAbort(error) || this.#asking !== asking) return null;
      this.#state.textContent = "";
      this.#replace(placed(error) ? el("p", { class: "faint" }, "No answer with this setting.") : problem(error, retry));
      return null;
    } finally {
      if (this.#asking === asking) this.element.removeAttribute("aria-busy");
    }
  }

  get hits() {
    return [...this.#hits.querySelectorAll("article.hit")];
  }

  /** Say at each hit where it stands in another column; nothing where that has no hits. */
  compareWith(others) {
    const places = new Map(others.hits.map((one, n) => [one.dataset.id, n]));
    this.hits.forEach((one, n) => {
      if (!places.size) return one.querySelector(".moved").replaceChildren();
      const there = places.get(one.dataset.id);
      const moved = one.querySelector(".moved");
      const up = there - n;
      moved.className = there === undefined ? "moved only" : up > 0 ? "moved up" : up < 0 ? "moved down" : "moved";
      moved.textContent = there === undefined ? "only here" : up > 0 ? `▲ up ${up}` : up < 0 ? `▼ down ${-up}` : "same place";
    });
  }

  #show(user, found) {
    const scale = scaleOf(found);
    if (!found.length) {
      this.#replace(el("div", { class: "empty" }, el("p", {}, "Nothing is stored of this user, so there is nothing to find.")));
      return;
    }
    this.#replace(...found.map((one, n) => hit(one, n + 1, {
      scale,
      onDelete: (text, element) => this.#delete(user, one.id, text, element),
      onSession: () => showSession(user, one.id),
    })));
  }

  async #delete(user, id, text, element) {
    if (!(await confirm.deleteMemory(user, id, text))) return;
    timeline.forget(id);
    (element.nextElementSibling ?? element.previousElementSibling)?.focus({ preventScroll: true });
    document.querySelectorAll(`article.hit[data-id="${CSS.escape(id)}"]`).forEach((one) => {
      forgetAll(one);
      one.remove();
    });
  }

  #replace(...nodes) {
    forgetAll(this.#hits);
    this.#hits.replaceChildren(...nodes);
  }
}

async function showSession(user, id) {
  try {
    const { session_id: session } = await api.memory(user, id);
    go({ user, view: "timeline", session, order: "oldest", at: id });
  } catch (error) {
    say(sentence(error));
  }
}
