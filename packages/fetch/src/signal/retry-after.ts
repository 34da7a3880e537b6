import {
  DAY_MS,
  HOUR_MS,
  MINUTE_MS,
  parseCount,
  parseDuration,
  parseReset,
  parseTime,
  SECOND_MS,
  saneMs,
} from "./amounts.ts";
import { type ErrorBody, isRecord } from "./error-body.ts";
import { readHeaders } from "./header-fields.ts";

const MS_FIELDS = ["retry-after-ms", "x-ms-retry-after-ms"];
/** The standard field first; the others are of gateways, and of GitHub Models (`x-ratelimit-timeremaining`). */
const WAIT_FIELDS = [
  "retry-after",
  "x-retry-after",
  "x-ratelimit-retry-after",
  "x-ratelimit-timeremaining",
  "x-ratelimit-reset-after",
];

/** The wait that the header fields ask for. Milliseconds come first, unless they are 0 and seconds are not. */
export function retryAfterOfHeaders(fields: ReadonlyMap<string, string>, now: number): number | undefined {
  const exact = MS_FIELDS.map((name) => milliseconds(fields.get(name))).find((ms) => ms !== undefined);
  if (exact !== undefined && exact > 0) return exact;
  return WAIT_FIELDS.map((name) => retryAfter(fields.get(name), now)).find((ms) => ms !== undefined) ?? exact;
}

/** `Retry-After`: seconds or a date. Of a field that came twice the longer wait counts. */
function retryAfter(value: string | undefined, now: number): number | undefined {
  if (value === undefined) return undefined;
  // A date has a comma of its own, after the name of the day.
  return longest(value.split(/,(?!\s*\d{1,2}[ -][A-Za-z]{3}[ -]\d)/), (part) => waitMs(part, now));
}

function longest(parts: readonly string[], read: (part: string) => number | undefined): number | undefined {
  const waits = parts.map((part) => read(part.trim())).filter((wait) => wait !== undefined);
  return waits.length === 0 ? undefined : Math.max(...waits);
}

function waitMs(text: string, now: number): number | undefined {
  if (/^\d+(\.\d+)?$/.test(text)) return saneMs(Number(text) * SECOND_MS);
  // Some gateways write a duration: "30s".
  return parseTime(text, now) === undefined && parseDuration(text) === undefined ? undefined : parseReset(text, now);
}

function milliseconds(value: string | undefined): number | undefined {
  return longest(value?.split(",") ?? [], (part) => (/^\d+(\.\d+)?$/.test(part) ? saneMs(Number(part)) : undefined));
}

const UNIT_MS: readonly (readonly [RegExp, number])[] = [
  [/^(?:ms|milli)/, 1],
  [/^s/, SECOND_MS],
  [/^m/, MINUTE_MS],
  [/^h/, HOUR_MS],
  [/^d/, DAY_MS],
];
const AMOUNT =
  "~?\\d{1,9}(?:\\.\\d{1,12})?\\s?(?:milliseconds?|ms|seconds?|secs?|s|minutes?|mins?|m|hours?|hrs?|h|days?|d)";
/** "Please try again in 9m38.016s", "Please retry after 33 seconds", "resets in ~30s", "wait 5 seconds". */
const ASKED = new RegExp(
  `(?:try again|retry|retry[-_ ]after|wait|come back|resets?|available(?: again)?)(?: (?:your request|it|again|another))?(?: (?:in|after|for|at least|within))?(?: (?:about|approximately|around))?[:=]? ?((?:${AMOUNT}(?:,? (?:and )?)?){1,4})(?![a-z])`,
  "i",
);
/** "Your limit will reset at 2026-08-27 21:31:39". Without a zone the time is read as UTC, as in `parseTime`. */
const ASKED_TIME =
  /(?:try again|try|retry|resets?|available again)(?: (?:at|after|on))?:? (\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?)/i;

const MS_NAMES = ["retry_after_ms", "retryAfterMs"];
const SECONDS_NAMES = [
  "retry_after_seconds",
  "retryAfterSeconds",
  "retry_after",
  "retryAfter",
  "resets_in_seconds",
  "wait_seconds",
];
const TIME_NAMES = ["resets_at", "reset_at", "retry_at", "retry_after", "retryAfter", "recommendedRetryTime"];

/** The wait that the body asks for, in a field of its own or in words. */
export function retryAfterOfBody(body: ErrorBody, now: number): number | undefined {
  for (const place of [body.metadata, ...body.places]) {
    const found = waitIn(place, now);
    if (found !== undefined) return found;
  }
  const asked = ASKED.exec(body.message)?.[1];
  if (asked !== undefined) return saneMs(sum(asked));
  const time = ASKED_TIME.exec(body.message)?.[1];
  return time === undefined ? undefined : parseReset(time, now);
}

function waitIn(place: Readonly<Record<string, unknown>>, now: number): number | undefined {
  const first = (names: readonly string[]) => names.map((name) => numberOf(place[name])).find((n) => n !== undefined);
  const ms = first(MS_NAMES);
  if (ms !== undefined) return saneMs(ms);
  const seconds = first(SECONDS_NAMES);
  if (seconds !== undefined) return saneMs(seconds * SECOND_MS);
  for (const name of TIME_NAMES) {
    const value = place[name];
    // Numbers below this are no points in time.
    if (typeof value === "number" && value < 1e9) continue;
    const wait = typeof value === "string" || typeof value === "number" ? parseReset(String(value), now) : undefined;
    if (wait !== undefined) return wait;
  }
  return isRecord(place["headers"]) ? retryAfterOfHeaders(readHeaders(place["headers"]), now) : undefined;
}

function numberOf(value: unknown): number | undefined {
  if (typeof value === "string") return parseCount(value.trim());
  return typeof value === "number" && value >= 0 ? value : undefined;
}

function sum(text: string): number {
  let ms = 0;
  for (const [, amount, unit = ""] of text.matchAll(/(\d+(?:\.\d+)?)\s?([a-z]+)/gi))
    ms += Number(amount) * (UNIT_MS.find(([pattern]) => pattern.test(unit.toLowerCase()))?.[1] ?? 0);
  return ms;
}
