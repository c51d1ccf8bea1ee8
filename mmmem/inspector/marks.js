/** Which words of a memory met a word of the question, by the tokens of late interaction. */

import { el } from "./dom.js";

const LEAST_SIMILARITY = 0.5;
const SHORTEST_END = 3; // characters of a piece inside a word that say which word it was
// As the tokenizers have it, each Chinese character is a word.
const WORD = /\p{Script=Han}|(?:(?!\p{Script=Han})[\p{L}\p{N}\p{M}])+/gu;

const plain = (word) => word.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
const hasWord = (piece) => /[\p{L}\p{N}]/u.test(piece);

/** @returns {{piece: string, inside: boolean}} a token as text, and whether it stands inside a word */
function pieceOf(token, marksBeginnings) {
  if (token.startsWith("##")) return { piece: plain(token.slice(2)), inside: true };
  if (marksBeginnings) return { piece: plain(token.replace("▁", "")), inside: !token.startsWith("▁") };
  return { piece: plain(token), inside: false };
}

function holders({ piece, inside }, words) {
  if (!hasWord(piece)) return [];
  if (inside) return piece.length < SHORTEST_END ? [] : words.filter((word) => word.lastIndexOf(piece) > 0);
  if (words.includes(piece)) return [piece];
  return piece.length < 2 ? [] : words.filter((word) => word.startsWith(piece));
}

/** How a token is written for people. */
export const tokenText = (token) => (token.startsWith("##") ? "…" + token.slice(2) : token.replace("▁", ""));

/** @returns {Map<string, object>} of words, as `plain` has them, the token that says most for each */
function meetings(text, tokens) {
  const words = [...new Set(Array.from(text.matchAll(WORD), ([word]) => plain(word)))];
  const marksBeginnings = tokens.some(({ memory }) => memory.startsWith("▁"));
  const met = new Map();
  for (const token of tokens) { // what says most comes first
    if (token.similarity < LEAST_SIMILARITY || !hasWord(token.query)) continue;
    for (const word of holders(pieceOf(token.memory, marksBeginnings), words)) if (!met.has(word)) met.set(word, token);
  }
  return met;
}

/** The text with the words marked that met the question: 3 for what says most, 1 for little. */
export function marked(text, tokens) {
  const met = meetings(text, tokens);
  const most = Math.max(...tokens.map(said), 1e-9);
  const nodes = [];
  let end = 0;
  for (const match of text.matchAll(WORD)) {
    const token = met.get(plain(match[0]));
    if (!token) continue;
    nodes.push(text.slice(end, match.index), mark(match[0], token, said(token) / most));
    end = match.index + match[0].length;
  }
  return [...nodes, text.slice(end)];
}

const said = ({ weight, similarity }) => weight * similarity;

const mark = (word, token, share) =>
  el("mark", {
    class: `strength-${share > 0.6 ? 3 : share > 0.25 ? 2 : 1}`,
    title: `met “${tokenText(token.query)}” of the question: similarity ${token.similarity.toFixed(2)}, ${Math.round(100 * token.weight)} % of its weight`,
  }, word);
