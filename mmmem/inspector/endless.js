/** A list that brings its next part when its end comes near. */

import { el } from "./dom.js";
import { isAbort, problem } from "./notice.js";

const NEAR = "1200px 0px";

export class EndlessList {
  #end;
  #bring;
  #add;
  #after = null;
  #isFirst = true;
  #loading = null;
  #done = false;
  failed = false; // at the last try
  #aborting = new AbortController();
  #watch;

  /**
   * @param {HTMLElement} end stands below the list and says how it stands with it
   * @param {(after: string|null, signal: AbortSignal) => Promise<{next: string|null}>} bring
   * @param {(part: object, isFirst: boolean) => Node|null} add puts a part into the page; what it gives stands at the end, once there is no more
   */
  constructor(end, bring, add) {
    this.#end = end;
    this.#bring = bring;
    this.#add = add;
    this.#watch = new IntersectionObserver((entries) => entries.at(-1).isIntersecting && this.more(), { rootMargin: NEAR });
    this.#watch.observe(end);
  }

  get isDone() {
    return this.#done;
  }

  /** Bring the next part now; resolves when it is in the page, or failed. */
  more() {
    if (this.#done) return Promise.resolve();
    this.#loading ??= this.#more().finally(() => (this.#loading = null));
    return this.#loading;
  }

  close() {
    this.#done = true;
    this.#watch.disconnect();
    this.#aborting.abort();
    this.#end.replaceChildren();
  }

  async #more() {
    this.failed = false;
    this.#end.replaceChildren(el("p", { class: "faint loading" }, "Loading…"));
    try {
      const part = await this.#bring(this.#after, this.#aborting.signal);
      if (this.#done) return;
      const last = this.#add(part, this.#isFirst);
      this.#isFirst = false;
      this.#after = part.next;
      this.#done = part.next === null;
      this.#end.replaceChildren(...(last ? [last] : []));
    } catch (error) {
      if (isAbort(error) || this.#aborting.signal.aborted) return;
      this.failed = true;
      this.#watch.disconnect();
      this.#end.replaceChildren(problem(error, () => this.#watch.observe(this.#end)));
      return;
    }
    this.#watch.unobserve(this.#end); // observed anew, it tells again whether it is near
    if (!this.#done) this.#watch.observe(this.#end);
  }
}
