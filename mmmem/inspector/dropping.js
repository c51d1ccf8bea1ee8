/** Pictures dropped anywhere on the page, or pasted into it. */

import { byId } from "./dom.js";

const files = (transfer) => [...(transfer?.files ?? [])];
const carriesFiles = (event) => [...(event.dataTransfer?.types ?? [])].includes("Files");

/** @param {(files: File[]) => void} take */
export function start(take) {
  const cover = byId("drop");
  let depth = 0; // of elements that were entered and not left
  const over = (change) => {
    depth = Math.max(0, depth + change);
    cover.hidden = depth === 0;
  };
  addEventListener("dragenter", (event) => carriesFiles(event) && over(1));
  addEventListener("dragleave", (event) => carriesFiles(event) && over(-1));
  addEventListener("dragover", (event) => carriesFiles(event) && event.preventDefault());
  addEventListener("drop", (event) => {
    over(-Infinity);
    if (!carriesFiles(event)) return;
    event.preventDefault(); // the browser would leave the page for the file
    take(files(event.dataTransfer));
  });
  addEventListener("paste", (event) => {
    const pasted = files(event.clipboardData);
    if (!pasted.length) return;
    event.preventDefault();
    take(pasted);
  });
}
