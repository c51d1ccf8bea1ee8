/** Where in the page one is: user, view, session, order and memory, in the part of the address that no server sees. */

import { decode, query } from "./address.js";

const VIEWS = ["timeline", "search", "compare"];

/** @returns {{user: string|null, view: string, session: string|null, order: string, at: string|null}} */
export function here() {
  const fields = {};
  for (const pair of location.hash.slice(1).split("&")) {
    const middle = pair.indexOf("=");
    if (middle > 0) fields[pair.slice(0, middle)] = decode(pair.slice(middle + 1));
  }
  return {
    user: fields.user || null,
    view: VIEWS.includes(fields.view) ? fields.view : "timeline",
    session: fields.session || null,
    order: fields.order === "oldest" ? "oldest" : "newest",
    at: fields.at || null,
  };
}

/** The address of another place; what is not named is left out. */
export const link = ({ order, ...fields }) => "#" + query({ ...fields, order: order === "oldest" ? order : null });

export function go(place) {
  location.hash = link(place);
}
