import { DAY_MS, HOUR_MS, MINUTE_MS, parseReset, SECOND_MS, saneMs } from "./amounts.ts";
import type { ErrorBody } from "./error-body.ts";
import { readHeaders } from "./header-fields.ts";
import { isRecord } from "./is-record.ts";

const MS_FIELDS = ["retry-after-ms", "x-ms-retry-after-ms", "x-retry-after-ms"];
/** The standard field first; the others are of gateways, and of GitHub Models (`x-ratelimit-timeremaining`). */
const WAIT_FIELDS = [
  "retry-after",
  "x-retry-after",
  "retry-after-seconds",
  "x-ratelimit-retry-after",
  "x-ratelimit-timeremaining",
  "x-ratelimit-reset-after",
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
  return longest(value.split(/,(?!\s*\d{1,2}[ -][A-Za-z]{3}[ -]\d)/), (part) => waitMs(part, now));
}

function longest(parts: readonly string[], read: (part: string) => number | undefined): number | undefined {
  const waits = parts.map((part) => read(part.trim())).filter((wait) => wait !== undefined);
  return waits.length === 0 ? undefined : Math.max(...waits);
}

function waitMs(text: string, now: number): number | undefined {
  const ms = parseReset(text, now);
  if (ms !== undefined) return ms;
  // Some gateways write words: "30 seconds".
  return WHOLE_AMOUNT.test(text) ? saneMs(sum(text)) : undefined;
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
const WHOLE_AMOUNT = new RegExp(`^(?:${AMOUNT}(?:,? (?:and )?)?){1,4}$`, "i");
/** Finds "Please try again in 9m38.016s", "Please retry after 33 seconds", "resets in ~30s", "wait 5 seconds". */
const ASKED = new RegExp(
  `(?:try again|retry|retry[-_ ]after|wait|come back|resets?|replenished|available(?: again)?)(?: (?:your request|it|again|another))?(?: (?:in|after|for|at least|within))?(?: (?:about|approximately|around))?[:=]? ?((?:${AMOUNT}(?:,? (?:and )?)?){1,4})(?![a-z])`,
  "i",
);
/** Finds "Quota will be replenished in 5.03:23:11", a time span of .NET. */
const ASKED_SPAN = /(?:replenished|resets?|retry|try again) (?:in|after) ((?:\d{1,4}\.)?\d{1,4}:\d\d:\d\d)(?![:\d])/i;
/** Finds "Your limit will reset at 2026-08-27 21:31:39", also Z.ai's Chinese. */
const ASKED_TIME =
  /(?:try again|try|retry|resets?|available again|限额将在)(?: (?:at|after|on))?:? ?(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d{1,9})?) ?(Z|UTC|GMT|[+-]\d\d:?\d\d)?/i;
/** Finds Anthropic's "You will regain access on 2026-12-01 at 00:00 UTC". */
const ACCESS_ON = /regain access on (\d{4}-\d\d-\d\d) at (\d\d:\d\d) UTC/i;
/** Finds "Resets at 10:00 UTC", which means the next time of day of this kind. */
const ASKED_CLOCK =
  /(?:try again|retry|resets?)(?: (?:at|after))?:? ([01]\d|2[0-3]):([0-5]\d)(?::[0-5]\d)? ?(?:UTC|GMT)\b/i;
/** Z.ai writes the time of day in China. */
const CHINA = "+08:00";
/** Codes of Z.ai's answers that name a reset: https://docs.z.ai/api-reference/api-code */
const NAMES_CHINA_TIME = /^(?:1308|1310|131[6-9]|132[01])$/;

const MS_NAMES = ["retry_after_ms", "retryAfterMs"];
const SECONDS_NAMES = [
  "retry_after_seconds",
  "retryAfterSeconds",
  "retry_after",
  "retryAfter",
  "resets_in_seconds",
  "reset_after_seconds",
  "wait_seconds",
  // Hugging Face, while a model is loaded.
  "estimated_time",
];
const TIME_NAMES = [
  "resets_at",
  "reset_at",
  "resetsAt",
  "resetAt",
  "reset_time",
  "retry_at",
  "retryDelay",
  "recommendedRetryTime",
];

/** Returns the wait that the body asks for, in a field of its own or in words. */
export function retryAfterOfBody(body: ErrorBody, now: number): number | undefined {
  for (const place of [body.metadata, ...body.places]) {
    const found = waitIn(place, now);
    if (found !== undefined) return found;
  }
  const { message } = body;
  const asked = ASKED.exec(message)?.[1];
  if (asked !== undefined) return saneMs(sum(asked));
  const span = ASKED_SPAN.exec(message)?.[1];
  if (span !== undefined) return parseReset(span, now);
  const [, time, zone] = ASKED_TIME.exec(message) ?? [];
  if (time !== undefined) return untilTime(time, zone, body, now);
  const [, day, minute] = ACCESS_ON.exec(message) ?? [];
  if (day !== undefined) return parseReset(`${day}T${minute}:00Z`, now);
  const [, hours, minutes] = ASKED_CLOCK.exec(message) ?? [];
  if (hours === undefined) return undefined;
  const sinceMidnight = ((now % DAY_MS) + DAY_MS) % DAY_MS;
  return saneMs((Number(hours) * HOUR_MS + Number(minutes) * MINUTE_MS - sinceMidnight + DAY_MS) % DAY_MS);
}

/** A time without a zone is in UTC, or for Z.ai in China's time, unless that time is past. */
function untilTime(time: string, zone: string | undefined, { codes }: ErrorBody, now: number): number | undefined {
  if (zone !== undefined) return parseReset(`${time}${/^(?:UTC|GMT)$/i.test(zone) ? "Z" : zone}`, now);
  const inChina = codes.some((code) => NAMES_CHINA_TIME.test(code)) ? parseReset(`${time}${CHINA}`, now) : undefined;
  return inChina !== undefined && inChina > 0 ? inChina : parseReset(time, now);
}

function waitIn(place: Readonly<Record<string, unknown>>, now: number): number | undefined {
  const first = (names: readonly string[], read: (value: unknown) => number | undefined) =>
    names.map((name) => read(place[name])).find((wait) => wait !== undefined);
  const wait =
    first(MS_NAMES, (value) => milliseconds(textOf(value))) ??
    first(SECONDS_NAMES, (value) => retryAfter(textOf(value), now)) ??
    first(TIME_NAMES, (value) => untilReset(value, now));
  if (wait !== undefined) return wait;
  return isRecord(place["headers"]) ? retryAfterOfHeaders(readHeaders(place["headers"]), now) : undefined;
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" || (typeof value === "number" && value >= 0) ? String(value) : undefined;
}

function untilReset(value: unknown, now: number): number | undefined {
  // Smaller numbers are no points in time.
  if (typeof value === "number" && value < 1e9) return undefined;
  const text = textOf(value);
  return text === undefined ? undefined : parseReset(text.trim(), now);
}

function sum(text: string): number {
  let ms = 0;
  for (const [, amount, unit = ""] of text.matchAll(/(\d+(?:\.\d+)?)\s?([a-z]+)/gi))
    ms += Number(amount) * (UNIT_MS.find(([pattern]) => pattern.test(unit.toLowerCase()))?.[1] ?? 0);
  return ms;
}
