import { isRecord } from "../untyped.ts";
import { parseReset, saneMs } from "./amounts.ts";
import type { ErrorBody } from "./error-body.ts";
import { readHeaders } from "./header-fields.ts";
import { durationInWords, waitInWords } from "./wait-in-words.ts";

const MS_FIELDS = ["retry-after-ms", "x-ms-retry-after-ms", "x-retry-after-ms"];
/** The standard field first; the others are of gateways, and of GitHub Models (`x-ratelimit-timeremaining`). */
const WAIT_FIELDS = [
  "retry-after",
  "x-retry-after",
  "retry-after-seconds",
  "x-ratelimit-retry-after",
  "x-ratelimit-timeremaining",
  "x-ratelimit-reset-after",
  // Kong's limits of tokens.
  "x-ai-ratelimit-retry-after",
];

/** Returns the wait that the header fields ask for. Milliseconds come first, unless they are 0 and seconds are not. */
export function retryAfterOfHeaders(fields: ReadonlyMap<string, string>, now: number): number | undefined {
  const exact = MS_FIELDS.map((name) => milliseconds(fields.get(name))).find((ms) => ms !== undefined);
  if (exact !== undefined && exact > 0) return exact;
  return WAIT_FIELDS.map((name) => retryAfter(fields.get(name), now)).find((ms) => ms !== undefined) ?? exact;
}

/** Reads `Retry-After`: seconds, a date, a duration or an epoch. Of a field that came twice the longer wait counts. */
function retryAfter(value: string | undefined, now: number): number | undefined {
  if (value === undefined) return undefined;
  // A date has a comma of its own, after the name of the day.
  return longest(value.split(/,(?!\s*\d{1,2}[ -][A-Za-z]{3}[ -]\d)/), (part) => waitMs(part.trim(), now));
}

function longest<T>(parts: readonly T[], read: (part: T) => number | undefined): number | undefined {
  const waits = parts.map(read).filter((wait) => wait !== undefined);
  return waits.length === 0 ? undefined : Math.max(...waits);
}

function waitMs(text: string, now: number): number | undefined {
  // Some gateways write words: "30 seconds".
  return parseReset(text, now) ?? durationInWords(text);
}

function milliseconds(value: string | undefined): number | undefined {
  const parts = value?.split(",").map((part) => part.trim()) ?? [];
  return longest(parts, (part) => (/^\d+(\.\d+)?$/.test(part) ? saneMs(Number(part)) : undefined));
}

/** Fields of an error that hold a wait, by the unit of a plain number. Case, hyphens and underscores do not matter. */
const WAIT_NAMES = {
  ms: /^(?:retry|resets?|wait|cooldown)(?:after|in|time|delay)?(?:ms|millis|milliseconds)$/,
  seconds:
    /^(?:retryafter|retryin|retrydelay|resets?in|resetafter|waittime|wait|cooldown|resets?|backoff)(?:s|secs?|seconds)?$|^estimatedtime$|^secondsuntil(?:reset|retry)$/,
  time: /^(?:resets?at|resettime|resettimestamp|retryat|retrydelay|recommendedretrytime|(?:next)?availableat|ratelimitnext)$/,
} as const;
/** An object that describes an error has few fields. */
const MOST_FIELDS = 100;

/** Returns the wait that the body asks for, in a field of its own or in words. */
export function retryAfterOfBody(body: ErrorBody, now: number): number | undefined {
  const places = [body.metadata, ...body.places];
  for (const place of [...places, ...places.flatMap(partsOf)]) {
    const found = waitIn(place, now);
    if (found !== undefined) return found;
  }
  return waitInWords(body.message, body.codes, now);
}

/** Objects inside of an error that describe its limit. */
const PARTS = /^(?:details?|context|extra|limits?|quota|rate_?limit(?:ing|s)?|retry)$/i;

function partsOf(place: Readonly<Record<string, unknown>>): Record<string, unknown>[] {
  return Object.entries(place)
    .filter(([key]) => PARTS.test(key))
    .map(([, value]) => value)
    .filter(isRecord);
}

/** Returns the wait in the fields of an object; of several fields in one unit the longer wait counts. */
function waitIn(place: Readonly<Record<string, unknown>>, now: number): number | undefined {
  const fields = Object.entries(place)
    .slice(0, MOST_FIELDS)
    .map(([key, value]) => [key.toLowerCase().replace(/[_-]/g, ""), value] as const);
  const longestOf = (names: RegExp, read: (value: unknown) => number | undefined) =>
    longest(
      fields.filter(([name]) => names.test(name)).map(([, value]) => value),
      read,
    );
  const wait =
    longestOf(WAIT_NAMES.ms, (value) => milliseconds(textOf(value))) ??
    longestOf(WAIT_NAMES.seconds, (value) => retryAfter(textOf(value), now)) ??
    longestOf(WAIT_NAMES.time, (value) => untilReset(value, now));
  if (wait !== undefined) return wait;
  return isRecord(place["headers"]) ? retryAfterOfHeaders(readHeaders(place["headers"]), now) : undefined;
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" || (typeof value === "number" && value >= 0) ? String(value).trim() : undefined;
}

function untilReset(value: unknown, now: number): number | undefined {
  // Smaller numbers are no points in time.
  if (typeof value === "number" && value < 1e9) return undefined;
  const text = textOf(value);
  return text === undefined ? undefined : parseReset(text, now);
}
