/** Control characters, and characters that change the direction of the surrounding text. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what has to go
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** Makes text from other agents safe for a terminal: it cannot move the cursor, change colours or start a new line. */
export function clean(text: string, longest = 200): string {
  const safe = text.replace(UNSAFE, "�");
  return safe.length > longest ? `${safe.slice(0, longest - 1)}…` : safe;
}
