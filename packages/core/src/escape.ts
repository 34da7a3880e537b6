const utf8 = new TextEncoder();

/**
 * Escapes a text as one part of a name whose parts are joined by a separator: every character that matches `special`,
 * and `%` itself, becomes `%` and two hexadecimal digits per byte. Different texts stay different, and none can extend
 * into the next part.
 */
export function escapePart(text: string, special: RegExp): string {
  return text.replace(new RegExp(`%|${special.source}`, "gu"), (character) =>
    Array.from(utf8.encode(character), (byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`).join(""),
  );
}
