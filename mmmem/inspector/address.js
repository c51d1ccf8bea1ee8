/** Ids in addresses: percent-encoded bytes of UTF-8, in which a lone surrogate is written as if it were a character (WTF-8). */

const byte = (number) => "%" + number.toString(16).toUpperCase().padStart(2, "0");

function encodeCharacter(character) {
  const code = character.codePointAt(0);
  if (code < 0xd800 || code > 0xdfff) return encodeURIComponent(character);
  return byte(0xe0 | (code >> 12)) + byte(0x80 | ((code >> 6) & 0x3f)) + byte(0x80 | (code & 0x3f));
}

export const encode = (text) => Array.from(text, encodeCharacter).join("");

/** The text that `encode` wrote. What is no such text comes back as it is. */
export function decode(encoded) {
  const surrogates = encoded.replace(/%ED%([AB][0-9A-F])%([89AB][0-9A-F])/gi, (_, second, third) =>
    String.fromCharCode(0xd000 | ((parseInt(second, 16) & 0x3f) << 6) | (parseInt(third, 16) & 0x3f)),
  );
  try {
    return decodeURIComponent(surrogates);
  } catch {
    return encoded;
  }
}

/** `a=1&b=2` of what is neither null, undefined nor empty. */
export const query = (fields) =>
  Object.entries(fields)
    .filter(([, value]) => value !== null && value !== undefined && value !== "")
    .map(([name, value]) => `${name}=${encode(String(value))}`)
    .join("&");

/** Whether an address can hold this id as a step: a browser resolves these two, however they are written. */
export const isStep = (id) => id !== "." && id !== "..";
