/** What went wrong, as a sentence, with a way to try again. */

import { el } from "./dom.js";

/** @param {Error} failure a Failure of api.js, or a fault of this page */
export function sentence(failure) {
  const why = failure.message ? ` (${failure.message})` : "";
  const wait = failure.retryAfter === null ? "" : ` It asks to wait ${failure.retryAfter} s.`;
  switch (failure.status) {
    case undefined: // not of the service
      return "Something went wrong in this page. The browser’s console says more.";
    case 0:
      return "The service cannot be reached. It may have stopped, or the network may be down.";
    case 401:
      return "The key is missing or wrong.";
    case 404:
      return failure.code ? `Not found${why}.` : "This service does not offer that.";
    case 408:
      return "The request took too long to arrive.";
    case 413:
      return `Too large${why}.`;
    case 422:
      return `The service refused the question${why}.`;
    case 429:
      return `The service is busy: too many requests are waiting.${wait}`;
    case 503:
      if (failure.code === "not_ready") return `The service is still loading.${wait}`;
      return failure.code.startsWith("store")
        ? `The store cannot be used now${why}.${wait}`
        : `The service cannot answer now${why}.${wait}`;
    default:
      return `The service failed with status ${failure.status}${why}.`;
  }
}

const FINAL = new Set([413, 422]); // the same again can only be refused again

/** @param {() => void} [retry] */
export function problem(failure, retry) {
  if (failure.status === undefined) console.error(failure);
  return el("div", { class: "problem", role: "alert" },
    el("p", {}, sentence(failure)),
    retry && !FINAL.has(failure.status) && el("button", { type: "button", onclick: retry }, "Try again"));
}

export const isAbort = (error) => error.name === "AbortError";
