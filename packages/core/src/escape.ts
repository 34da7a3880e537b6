const utf8 = new TextEncoder();

/**
 * A text as one part of a name whose parts are joined by a separator: what `special` matches, and the escape sign
 * itself, becomes `%` and two digits for each byte. Different texts stay different, and none can reach into the next part.
 */
export function escapePart(text: string, special: RegExp): string {
  return text.replace(new RegExp(`%|${special.source}`, "gu"), (character) =>
    Array.from(utf8.encode(character), (byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`).join(""),
  );
}
