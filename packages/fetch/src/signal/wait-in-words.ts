import { DAY_MS, HOUR_MS, MINUTE_MS, parseReset, SECOND_MS, saneMs } from "./amounts.ts";

const UNIT_MS: readonly (readonly [RegExp, number])[] = [
  [/^(?:ms|milli)/, 1],
  [/^s/, SECOND_MS],
  [/^m/, MINUTE_MS],
  [/^h/, HOUR_MS],
  [/^d/, DAY_MS],
];
const AMOUNT =
  "~?\\d{1,9}(?:\\.\\d{1,12})?\\s?(?:milliseconds?|ms|seconds?|secs?|s|minutes?|mins?|m|hours?|hrs?|h|days?|d)";
const AMOUNTS = `(?:${AMOUNT}(?:,? (?:and )?)?){1,4}`;
const WHOLE_AMOUNT = new RegExp(`^${AMOUNTS}$`, "i");
/** The verb after which a wait stands. */
const VERB = "try again|retry|retry[-_ ]after|wait|come back|resets?|replenished|available(?: again)?";
const LOOSE_VERB =
  "try|retry|again|wait|resets?|renew(?:s|ed)?|replenish(?:es|ed)?|available|resumes?|submit|resend|back ?off";
const APPROXIMATELY = "about|approximately|around|another|at least|a further";
/** Z.ai writes the time of day in China. */
const CHINA = "+08:00";
/** Codes of Z.ai's answers that name a reset: https://docs.z.ai/api-reference/api-code */
const NAMES_CHINA_TIME = /^(?:1308|1310|131[6-9]|132[01])$/;

interface Context {
  readonly codes: readonly string[];
  readonly now: number;
}
/** The words of a wait, and its length from what they captured. */
type Phrase = readonly [words: RegExp, read: (found: readonly string[], context: Context) => number | undefined];

/** In order: the first that is found counts. */
const PHRASES: readonly Phrase[] = [
  // "Please try again in 9m38.016s", "Please retry after 33 seconds", "resets in ~30s", "wait 5 seconds".
  [
    new RegExp(
      `(?:${VERB})(?: (?:your request|it|again|another))?(?: (?:in|after|for|at least|within))?(?: (?:${APPROXIMATELY}))?[:=]? ?(${AMOUNTS})(?![a-z])`,
      "i",
    ),
    ([amounts = ""]) => saneMs(sum(amounts)),
  ],
  // "You can submit the request after 49 seconds", "a cooldown of 15 seconds".
  [
    new RegExp(
      `\\b(?:(?:${LOOSE_VERB})(?: [a-z']+){0,5}? (?:in|after|for|within)|cool ?down(?: period)?(?: of)?)(?: (?:${APPROXIMATELY}))? (${AMOUNTS})(?![a-z])`,
      "i",
    ),
    ([amounts = ""]) => saneMs(sum(amounts)),
  ],
  // "Quota will be replenished in 5.03:23:11", a time span of .NET.
  [
    /(?:replenished|resets?|retry|try again) (?:in|after) ((?:\d{1,4}\.)?\d{1,4}:\d\d:\d\d)(?![:\d])/i,
    ([span = ""], { now }) => parseReset(span, now),
  ],
  // "Your limit will reset at 2026-08-27 21:31:39", also Z.ai's Chinese.
  [
    /(?:try again|try|retry|resets?|available again|限额将在)(?: (?:at|after|on))?:? ?(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d{1,9})?) ?(Z|UTC|GMT|[+-]\d\d:?\d\d)?/i,
    ([time = "", zone], context) => untilTime(time, zone, context),
  ],
  // Anthropic's "You will regain access on 2026-12-01 at 00:00 UTC".
  [
    /regain access on (\d{4}-\d\d-\d\d) at (\d\d:\d\d) UTC/i,
    ([day, minute], { now }) => parseReset(`${day}T${minute}:00Z`, now),
  ],
  // "Please wait for your limit to reset on April 20, 2026 at 2:00 AM", "try again at Sep 13th, 2026 2:23 PM".
  [
    /(?:try again|retry|resets?)(?: (?:at|on|after))?:? ([a-z]{3})[a-z]{0,6}\.? (\d{1,2})(?:st|nd|rd|th)?,? (\d{4}),?(?: at)? (\d{1,2}):(\d\d)(?: ?([ap])m)?\b/i,
    ([month, day, year, hours, minute, half], { now }) =>
      parseReset(`Day, ${day} ${month} ${year} ${hourOfDay(Number(hours), half)}:${minute}:00 GMT`, now),
  ],
  // "Resets at 10:00 UTC": the next time of day of this kind.
  [
    /(?:try again|retry|resets?)(?: (?:at|after))?:? ([01]\d|2[0-3]):([0-5]\d)(?::[0-5]\d)? ?(?:UTC|GMT)\b/i,
    ([hours, minutes], { now }) => untilClock(Number(hours) * HOUR_MS + Number(minutes) * MINUTE_MS, now),
  ],
  // Google's detail in the text forms of its Python clients: "retry_delay { seconds: 38 }", "'retryDelay': '26s'".
  [
    /retry_?delay["']?[:\s]{0,3}["'{]?\s{0,3}(?:seconds["']?: ?)?(\d{1,7}(?:\.\d{1,9})?)/i,
    ([seconds]) => saneMs(Number(seconds) * SECOND_MS),
  ],
  // "Retry after 30.", "'retry-after': 30": the unit of the header field.
  [
    /retry[-_ ]after["']?[:=]? ?["']?(\d{1,10}(?:\.\d{1,9})?)(?!\s?[a-z]|[-:/\d]|\.\d)/i,
    ([seconds = ""], { now }) => parseReset(seconds, now),
  ],
  // "Please try again in an hour."
  [
    /(?:try again|retry|wait|resets?|available)(?: [a-z]+){0,3}? (?:(?:in|after|for|within) )?(?:about |approximately )?(?:an?|one) (second|minute|hour|day)\b/i,
    ([unit = ""]) => unitMs(unit),
  ],
];

/** Returns the wait that a message asks for in words; `codes` are those of the error. */
export function waitInWords(message: string, codes: readonly string[], now: number): number | undefined {
  for (const [words, read] of PHRASES) {
    const found = words.exec(message);
    if (found !== null) return read(found.slice(1), { codes, now });
  }
  return undefined;
}

/** Returns the length of "2 minutes and 5 seconds"; undefined for other texts. */
export function durationInWords(text: string): number | undefined {
  return WHOLE_AMOUNT.test(text) ? saneMs(sum(text)) : undefined;
}

/** A time without a zone is in UTC, or for Z.ai in China's time, unless that time is past. */
function untilTime(time: string, zone: string | undefined, { codes, now }: Context): number | undefined {
  if (zone !== undefined) return parseReset(`${time}${/^(?:UTC|GMT)$/i.test(zone) ? "Z" : zone}`, now);
  const inChina = codes.some((code) => NAMES_CHINA_TIME.test(code)) ? parseReset(`${time}${CHINA}`, now) : undefined;
  return inChina !== undefined && inChina > 0 ? inChina : parseReset(time, now);
}

function untilClock(timeOfDayMs: number, now: number): number | undefined {
  const sinceMidnight = ((now % DAY_MS) + DAY_MS) % DAY_MS;
  return saneMs((timeOfDayMs - sinceMidnight + DAY_MS) % DAY_MS);
}

/** Returns the hour as two digits: "2" and "p" are 14; without a half of the day the hours count to 23. */
function hourOfDay(hours: number, half: string | undefined): string {
  const past = half === undefined ? hours : (hours % 12) + (half.toLowerCase() === "p" ? 12 : 0);
  return String(past).padStart(2, "0");
}

function sum(text: string): number {
  let ms = 0;
  for (const [, amount, unit = ""] of text.matchAll(/(\d+(?:\.\d+)?)\s?([a-z]+)/gi))
    ms += Number(amount) * unitMs(unit);
  return ms;
}

function unitMs(unit: string): number {
  return UNIT_MS.find(([pattern]) => pattern.test(unit.toLowerCase()))?.[1] ?? 0;
}
