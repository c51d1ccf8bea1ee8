/** Calls to the service, relative to the page so that it may run under a prefix. Whatever goes wrong is a Failure. */

import { encode, query } from "./address.js";
import * as key from "./key.js";

/** What the service, or the way to it, said. status 0: it could not be reached. */
export class Failure extends Error {
  constructor(status, said, retryAfter) {
    super(said?.detail?.reason ?? "");
    this.status = status;
    this.code = said?.code ?? "";
    this.field = said?.detail?.field ?? null;
    this.problem = said?.detail?.problem ?? null;
    this.retryAfter = /^\d+$/.test(retryAfter ?? "") ? Number(retryAfter) : null;
  }
}

async function once(method, path, body, signal) {
  const headers = key.headers();
  if (body !== undefined) headers["Content-Type"] = "application/json";
  try {
    const sent = body === undefined ? undefined : JSON.stringify(body);
    const answer = await fetch(path, { method, headers, body: sent, signal, cache: "no-store", redirect: "error" });
    const said = await answer.json().catch((error) => {
      if (error.name === "AbortError") throw error;
      return null;
    });
    return { answer, said };
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Failure(0);
  }
}

/** The JSON of the answer. Asks for the key where the service does. Throws Failure, or AbortError. */
async function ask(method, path, { body, signal } = {}) {
  for (;;) {
    const sent = key.current();
    const { answer, said } = await once(method, path, body, signal);
    if (answer.ok && said !== null) return said;
    const failure = new Failure(answer.ok ? 502 : answer.status, said, answer.headers.get("Retry-After"));
    if (failure.status !== 401 || !(await key.demand(sent, failure.message))) throw failure;
  }
}

export const users = (after, signal) => ask("GET", "ui/users?" + query({ limit: 100, after }), { signal });
export const settings = () => ask("GET", "ui/settings");
export const usage = (user, signal) => ask("GET", "users/" + encode(user), { signal });
export const deleteUser = (user) => ask("DELETE", "users/" + encode(user));
export const explain = (question, signal) => ask("POST", "explain", { body: question, signal });

/** @param {{user_id: string, limit: number, after?: string, session_id?: string, order: string}} asked */
export const page = (asked, signal) => ask("GET", "memories?" + query({ ...asked, images: "false" }), { signal });

const ofMemory = (user, id) => `memories/${encode(id)}?` + query({ user_id: user });
export const memory = (user, id, signal) => ask("GET", ofMemory(user, id), { signal });
export const deleteMemory = (user, id) => ask("DELETE", ofMemory(user, id));
