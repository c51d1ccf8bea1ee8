/** Why a memory came: what every channel said of it, as bars. */

import { el } from "./dom.js";
import { count, score, signed } from "./format.js";
import { tokenText } from "./marks.js";

const MEANINGS = {
  maxsim: "token by token, by meaning",
  lexical: "the same words (BM25)",
  identifiers: "names with digits or joints (BM25)",
  entities: "words with a capital (BM25)",
  dense: "the text as a whole, by meaning",
  answers: "the turn after one that was asked alike",
  questions: "asks itself, and gives up a share",
  neighbours: "the turns beside it match",
  speaker: "said by whom the question names",
  date: "of the time that the question names",
  when: "speaks of a time, as the question asks for one",
  text_to_image: "its picture, by the words of the question",
  image_to_image: "its picture looks like the question’s",
  beside_image: "beside a picture like the question’s",
  picture: "has a picture, as the question asks for one",
  colours: "the colours that the question names",
  words_by_luck: "shares words by luck alone",
  labels: "what the question’s picture seems to show",
  written: "what is written in the question’s picture",
  options: "the options",
};

/** The scale of one answer: all bars have it, and all hits the same order of channels. */
export function scaleOf(hits) {
  const total = {};
  let least = 0;
  let most = 0;
  for (const { channels } of hits) {
    for (const [name, { added }] of Object.entries(channels)) {
      total[name] = (total[name] ?? 0) + Math.abs(added);
      least = Math.min(least, added);
      most = Math.max(most, added);
    }
  }
  const span = most - least || 1;
  return { order: Object.keys(total).sort((a, b) => total[b] - total[a]), share: (added) => (added - least) / span };
}

function bar(added, scale) {
  const [zero, end] = [scale.share(0), scale.share(added)];
  const filled = el("span", { class: added < 0 ? "fill less" : "fill" });
  filled.style.left = `${100 * Math.min(zero, end)}%`;
  filled.style.width = `${Math.max(100 * Math.abs(end - zero), added ? 1 : 0)}%`;
  const line = el("span", { class: "zero" });
  line.style.left = `${100 * zero}%`;
  return el("span", { class: "track", "aria-hidden": "true" }, line, filled);
}

/** A table with a bar in each row; columns of class `opened` are for who looks closer. */
export function chart({ channels, fused, reranked }, scale) {
  const rows = scale.order.filter((name) => name in channels).map((name) => {
    const { rank, score: measured, weight, added } = channels[name];
    return el("tr", { class: rank === 1 ? "first" : "" },
      el("th", { scope: "row", title: MEANINGS[name] }, name.replaceAll("_", " ")),
      el("td", { class: "rank" }, `#${count(rank)}`),
      el("td", { class: "bar" }, bar(added, scale)),
      el("td", {}, signed(added)),
      el("td", { class: "opened" }, score(measured)),
      el("td", { class: "opened" }, score(weight)));
  });
  const sums = [["together", fused], ["reranker", reranked]].filter(([, place]) => place).map(([name, place]) =>
    el("tr", { class: "opened sum" },
      el("th", { scope: "row" }, name), el("td", { class: "rank" }, `#${count(place.rank)}`),
      el("td", {}), el("td", {}), el("td", {}, score(place.score)), el("td", {})));
  return el("table", { class: "chart" },
    el("caption", { class: "unseen" }, "What each channel said"),
    el("thead", {}, el("tr", {},
      el("th", { scope: "col" }, "channel"), el("th", { scope: "col", class: "rank", title: "Among all memories of the user" }, "rank"),
      el("th", { scope: "col", class: "bar" }, el("span", { class: "unseen" }, "bar")),
      el("th", { scope: "col", title: "To the score, in standard deviations" }, "added"),
      el("th", { scope: "col", class: "opened", title: "As the channel measures it" }, "score"),
      el("th", { scope: "col", class: "opened" }, "weight"))),
    el("tbody", {}, rows, sums));
}

const MOST_TOKENS = 12;

/** Which tokens met, what says most first. */
export function tokenList(tokens) {
  if (!tokens.length) return null;
  return el("div", { class: "tokens" },
    el("h4", {}, "Words that met"),
    el("ul", {}, tokens.slice(0, MOST_TOKENS).map(({ query, memory, similarity, weight }) =>
      el("li", { title: `${Math.round(100 * weight)} % of the question’s weight` },
        el("bdi", {}, tokenText(query)), el("span", { class: "faint" }, " → "), el("bdi", {}, tokenText(memory)),
        el("span", { class: "number" }, similarity.toFixed(2))))));
}
