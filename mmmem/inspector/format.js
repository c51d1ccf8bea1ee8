/** Numbers, times and ids for eyes. Times are UTC, as everywhere in mmmem. */

const whole = new Intl.NumberFormat("en");
const dayFormat = new Intl.DateTimeFormat("en-GB", {
  timeZone: "UTC", weekday: "short", day: "numeric", month: "long", year: "numeric",
});

export const count = (number) => whole.format(number);
export const counted = (number, one, many = one + "s") => `${count(number)} ${number === 1 ? one : many}`;
export const day = (iso) => dayFormat.format(new Date(iso));
export const clock = (iso) => iso.slice(iso.indexOf("T") + 1).slice(0, 5);
export const score = (number) => (Math.abs(number) >= 100 ? number.toFixed(0) : number.toFixed(Math.abs(number) >= 10 ? 1 : 2));
export const signed = (number) => (number < 0 ? "−" : "+") + score(Math.abs(number));

export const duration = (ms) => (ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`);

export function size(bytes) {
  const units = ["bytes", "kB", "MB", "GB", "TB"];
  let unit = 0;
  for (; bytes >= 1000 && unit < units.length - 1; unit++) bytes /= 1000;
  return `${unit && bytes < 10 ? bytes.toFixed(1) : Math.round(bytes)} ${units[unit]}`;
}

/** What has no picture of its own: controls, spaces that look like others or stand at an end, marks that turn or hide what follows. Joiners of emoji and of scripts are left. */
const UNSEEN = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]|(?! )\p{Zs}|^ | $|(?![\u200c\u200d\u{e0020}-\u{e007f}])\p{Cf}|(?<=^|\p{ASCII})[\u200c\u200d]/gu;

function escaped(character) {
  const written = JSON.stringify(character).slice(1, -1);
  if (written !== character) return written;
  return character.split("").map((unit) => "\\u" + unit.charCodeAt(0).toString(16).padStart(4, "0")).join("");
}

/** An id on one line: what cannot be seen is written as in JSON, the middle of a long one is left out. */
export function shown(id, most = 60) {
  const line = id.replace(UNSEEN, escaped);
  const characters = Array.from(line);
  if (characters.length <= most) return line;
  const half = Math.floor((most - 1) / 2);
  return characters.slice(0, half).join("") + "…" + characters.slice(-half).join("");
}

/** A title holds the whole of an id, within reason. */
export const titled = (id) => shown(id, 10_000);
