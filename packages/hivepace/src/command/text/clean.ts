/** Control characters, and those that turn the direction of what is written around them. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what has to go
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** What others have said, for a terminal: it cannot move the cursor, change colours or pretend to be another line. */
export function clean(text: string, longest = 200): string {
  const safe = text.replace(UNSAFE, "�");
  return safe.length > longest ? `${safe.slice(0, longest - 1)}…` : safe;
}
