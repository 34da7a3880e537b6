import { DAY_MS, HOUR_MS, MINUTE_MS, parseReset, parseTime, SECOND_MS, saneMs } from "./amounts.ts";
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
  const parts = value.split(/,(?!\s*\d\d[ -][A-Za-z]{3}[ -]\d)/);
  const waits = parts.map((part) => waitMs(part.trim(), now)).filter((wait) => wait !== undefined);
  return waits.length === 0 ? undefined : Math.max(...waits);
}

function waitMs(text: string, now: number): number | undefined {
  if (/^\d+(\.\d+)?$/.test(text)) return saneMs(Number(text) * SECOND_MS);
  return parseTime(text) === undefined ? undefined : parseReset(text, now);
}

function milliseconds(value: string | undefined): number | undefined {
  return value !== undefined && /^\d+(\.\d+)?$/.test(value) ? saneMs(Number(value)) : undefined;
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

/** What the body asks for, in a field of its own or in so many words. */
export function retryAfterOfBody(body: ErrorBody, now: number): number | undefined {
  for (const place of [body.metadata, body.error]) {
    const ms = numberOf(place["retry_after_ms"]);
    const seconds =
      numberOf(place["retry_after_seconds"]) ?? numberOf(place["retry_after"]) ?? numberOf(place["retryAfter"]);
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
  return typeof value === "number" && value >= 0 ? value : undefined;
}

function sum(text: string): number {
  let ms = 0;
  for (const [, amount, unit = ""] of text.matchAll(/(\d+(?:\.\d+)?)\s?([a-z]+)/gi))
    ms += Number(amount) * (UNIT_MS.find(([pattern]) => pattern.test(unit.toLowerCase()))?.[1] ?? 0);
  return ms;
}
