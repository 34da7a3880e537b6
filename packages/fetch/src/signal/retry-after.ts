import { DAY_MS, HOUR_MS, MINUTE_MS, parseCount, parseReset, parseTime, SECOND_MS, saneMs } from "./amounts.ts";
import { type ErrorBody, isRecord } from "./error-body.ts";
import { readHeaders } from "./header-fields.ts";

/** What the header fields ask for. Milliseconds come first, unless they are 0 and seconds are not. */
export function retryAfterOfHeaders(fields: ReadonlyMap<string, string>, now: number): number | undefined {
  const exact = milliseconds(fields.get("retry-after-ms")) ?? milliseconds(fields.get("x-ms-retry-after-ms"));
  if (exact !== undefined && exact > 0) return exact;
  return retryAfter(fields.get("retry-after"), now) ?? exact;
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
  return parseTime(text, now) === undefined ? undefined : parseReset(text, now);
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
  "\\d{1,9}(?:\\.\\d{1,12})?\\s?(?:milliseconds?|ms|seconds?|secs?|s|minutes?|mins?|m|hours?|hrs?|h|days?|d)";
/** "Please try again in 9m38.016s", "Please retry after 33 seconds", "retry in 20.04s", "wait 5 seconds". */
const ASKED = new RegExp(
  `(?:try again|retry|wait|come back|resets?)(?: (?:your request|it|again))?(?: (?:in|after|for|at least))? ?((?:${AMOUNT}(?:,? (?:and )?)?){1,4})(?![a-z])`,
  "i",
);

const SECONDS_FIELDS = ["retry_after_seconds", "retry_after", "retryAfter", "resets_in_seconds"];

/** What the body asks for, in a field of its own or in so many words. */
export function retryAfterOfBody(body: ErrorBody, now: number): number | undefined {
  for (const place of [body.metadata, ...body.places]) {
    const ms = numberOf(place["retry_after_ms"]);
    const seconds = SECONDS_FIELDS.map((field) => numberOf(place[field])).find((found) => found !== undefined);
    const wait = ms ?? (seconds === undefined ? undefined : seconds * SECOND_MS);
    if (wait !== undefined) return saneMs(wait);
    if (isRecord(place["headers"])) {
      const passedOn = retryAfterOfHeaders(readHeaders(place["headers"]), now);
      if (passedOn !== undefined) return passedOn;
    }
  }
  const asked = ASKED.exec(body.message)?.[1];
  return asked === undefined ? undefined : saneMs(sum(asked));
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
