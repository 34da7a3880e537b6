import { escapePart } from "@hivepace/core/internal";

/** Wildcards, spaces, dots that would leave an empty token, and the first letters of names that NATS keeps for itself. */
const SPECIAL = /[*> ]|(?<![^.])\.|\.$|^[$_]/;

/** A program uses few subjects; one that uses many forgets them all from time to time. */
const MOST_NAMES = 1_000;
const names = new Map<string, string>();

/**
 * A subject as NATS knows it: itself, so that agents in other languages use the same name, with `%` and two digits for
 * what NATS would understand otherwise. Percent-decoding gives the subject again.
 */
export function natsName(subject: string): string {
  const known = names.get(subject);
  if (known !== undefined) return known;
  const name = escapePart(subject, SPECIAL);
  if (names.size >= MOST_NAMES) names.clear();
  names.set(subject, name);
  return name;
}
