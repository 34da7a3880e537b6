import { BusSubjectInvalidError } from "./errors.ts";

/** The rule for subjects, as error messages state it. */
const SUBJECT_RULE = "a string of 1 to 255 bytes in UTF-8, well formed and without control characters";

const MAX_BYTES = 255;
const utf8 = new TextEncoder();

/**
 * Accepts any readable text. Subjects are literal: `*`, `>` and spaces have no special meaning on any bus; adapters
 * escape the characters that their broker would interpret.
 */
export function isSubject(subject: unknown): subject is string {
  return (
    typeof subject === "string" &&
    subject.length > 0 &&
    subject.length <= MAX_BYTES &&
    !/\p{Cc}|\p{Cs}/u.test(subject) &&
    utf8.encode(subject).length <= MAX_BYTES
  );
}

/** Bounds the cache of valid subjects. Programs reuse few subjects, so the cache is almost never cleared. */
const MOST_KNOWN = 1_000;
const known = new Set<unknown>();

export function checkSubject(subject: unknown): asserts subject is string {
  if (known.has(subject)) return;
  if (!isSubject(subject)) throw new BusSubjectInvalidError(subject, SUBJECT_RULE);
  if (known.size >= MOST_KNOWN) known.clear();
  known.add(subject);
}
