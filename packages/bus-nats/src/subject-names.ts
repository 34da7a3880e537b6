import { escapePart } from "@hivepace/core/internal";

/** Wildcards, spaces, dots that would create an empty token, and the first letters of names that NATS reserves. */
const SPECIAL = /[*> ]|(?<![^.])\.|\.$|^[$_]/;

/** Bounds the cache. Programs use few subjects; a program with many clears the cache from time to time. */
const MOST_NAMES = 1_000;
const names = new Map<string, string>();

/**
 * Converts a subject to its NATS name: the subject itself, so that agents in other languages use the same name, except
 * that characters with a meaning in NATS are percent-encoded. Percent-decoding restores the subject.
 */
export function natsName(subject: string): string {
  const known = names.get(subject);
  if (known !== undefined) return known;
  const name = escapePart(subject, SPECIAL);
  if (names.size >= MOST_NAMES) names.clear();
  names.set(subject, name);
  return name;
}
