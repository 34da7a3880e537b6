import { InvalidConfigError } from "./errors.ts";
import type { AcquireOptions, CapacityOptions, ReducedDetails } from "./rate-limiter.ts";

/** The names of all options of an interface; the compiler checks that the list is complete. */
export type OptionNames<T> = Readonly<Record<keyof T & string, true>>;

/** The names of the options of `setCapacity`. */
export const CAPACITY_OPTIONS = { burst: true } as const satisfies OptionNames<CapacityOptions>;

/** The names of the options of a limiter's `acquire`. */
export const ACQUIRE_OPTIONS = {
  cost: true,
  signal: true,
  timeoutMs: true,
  priority: true,
} as const satisfies OptionNames<AcquireOptions>;

/** The names of the details of a limiter's `announceReduced`. */
export const REDUCED_DETAILS = {
  sentAgoMs: true,
  retryAfterMs: true,
  kind: true,
} as const satisfies OptionNames<ReducedDetails>;

/** Maximum number of names that an error lists when no known name is similar. */
const MOST_LISTED = 12;

/**
 * Rejects options that do not exist, because a misspelled limit would silently be no limit, and options that are no
 * object. Undefined options are ignored.
 *
 * @param at - prefix of the name in the error, as in `endpoints[0].`
 * @param name - name of the object itself in the error
 * @throws INVALID_CONFIG with the nearest known name
 */
export function checkKnown(
  options: object,
  known: Readonly<Record<string, true>>,
  at = "",
  name = at.slice(0, -1) || "options",
): void {
  checkObject(name, options);
  for (const option in options) {
    if (known[option] === true) continue;
    const value = (options as Record<string, unknown>)[option];
    if (value !== undefined)
      throw new InvalidConfigError(`${at}${option}`, ruleFor(option, Object.keys(known)), withoutText(value));
  }
}

/**
 * Rejects names that differ from a known one by one letter, their case or a hyphen. For options of which unknown ones
 * are passed on to a client library, so that no name is wrong for certain.
 *
 * @throws INVALID_CONFIG with the known name
 */
export function checkSpelling(options: object, known: Readonly<Record<string, true>>): void {
  checkObject("options", options);
  for (const [option, value] of Object.entries(options)) {
    if (value === undefined || Object.hasOwn(known, option)) continue;
    const meant = Object.keys(known).find((name) => editDistance(plain(option), plain(name)) <= 1);
    if (meant !== undefined) throw new InvalidConfigError(option, `spelt ${meant}`, withoutText(value));
  }
}

/** The value of an option that does not exist. Its name does not tell whether it is a secret. */
function withoutText(value: unknown): unknown {
  if (typeof value === "string") return "(hidden)";
  return typeof value === "object" && value !== null ? "an object" : value;
}

/** Throws INVALID_CONFIG unless the value is an object and no list. */
export function checkObject(name: string, value: unknown): void {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new InvalidConfigError(name, "an object", value);
}

function ruleFor(name: string, known: readonly string[]): string {
  const nearest = nearestOf(name, known);
  if (nearest !== undefined) return `an option that exists (did you mean ${nearest}?)`;
  const more = known.length - MOST_LISTED;
  const listed = known.slice(0, MOST_LISTED).join(", ") + (more > 0 ? ` and ${more} more` : "");
  return `an option that exists (they are ${listed})`;
}

/** Returns the known name that is most similar to `name`; undefined when none is similar enough. */
export function nearestOf(name: string, known: Iterable<string>): string | undefined {
  let nearest: string | undefined;
  let least = Infinity;
  for (const candidate of known) {
    const difference = differenceOf(plain(name), plain(candidate));
    if (difference < least) [nearest, least] = [candidate, difference];
  }
  return least <= 0.5 ? nearest : undefined;
}

/** Normalises a name, so that `rpm_limit` and `rpmLimit` are equal. */
function plain(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, "");
}

/**
 * Returns 0 for equal names and 1 for names that have nothing in common. The beginning of a name counts as a likely
 * abbreviation.
 */
function differenceOf(name: string, candidate: string): number {
  if (name.length >= 3 && candidate.startsWith(name)) return 0.3 * (1 - name.length / candidate.length);
  return editDistance(name, candidate) / Math.max(1, name.length, candidate.length);
}

/** Returns the Levenshtein distance: the number of letters to insert, remove or replace. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] as number) + 1, (next[j - 1] as number) + 1));
    }
    row = next;
  }
  return row[b.length] as number;
}
