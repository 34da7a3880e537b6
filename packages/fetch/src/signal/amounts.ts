/** Upper bound of a credible wait or reset. Providers ask for a month at most. */
const LONGEST_MS = 366 * 86_400_000;
/** Numbers from here on are points in time, in seconds or milliseconds since 1970, and not seconds from now. */
const EPOCH_SECONDS_FROM = 1e9;
const EPOCH_MS_FROM = 1e11;

export const SECOND_MS = 1_000;
export const MINUTE_MS = 60_000;
export const HOUR_MS = 3_600_000;
export const DAY_MS = 86_400_000;

const NUMBER = /^\d{1,20}(?:\.\d{1,20})?$/;
const GROUPED = /^\d{1,3}(?:,\d{3})+$/;

/** Parses a number of 0 or more in plain digits, also "30,000". All other texts are no numbers, also -1 for "no limit". */
export function parseCount(text: string): number | undefined {
  const plain = GROUPED.test(text) ? text.replaceAll(",", "") : text;
  if (!NUMBER.test(plain)) return undefined;
  const count = Number(plain);
  return count <= Number.MAX_SAFE_INTEGER ? count : undefined;
}

/** Parses a field that may have come several times and was joined with commas; the smallest number counts. */
export function parseCounts(text: string): number | undefined {
  const whole = parseCount(text);
  if (whole !== undefined || !text.includes(",")) return whole;
  const counts = text.split(",").map((part) => parseCount(part.trim()));
  return counts.includes(undefined) ? undefined : Math.min(...(counts as number[]));
}

/** Rounds up to whole milliseconds, so that no retry comes too early. Undefined for values that no provider can mean. */
export function saneMs(ms: number): number | undefined {
  if (!Number.isFinite(ms) || ms > LONGEST_MS) return undefined;
  // Removes the rounding error of decimal fractions: 59.56 s is 59,560 ms, not 59,561 ms.
  return Math.max(0, Math.ceil(Math.round(ms * 1e6) / 1e6));
}

const UNITS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: SECOND_MS,
  m: MINUTE_MS,
  h: HOUR_MS,
  d: DAY_MS,
};
const DURATION_PART = /(\d{1,15}(?:\.\d{1,15})?|\.\d{1,15})(ns|us|µs|μs|ms|s|m|h|d)/g;
const DURATION = /^(?:(?:\d{1,15}(?:\.\d{1,15})?|\.\d{1,15})(?:ns|us|µs|μs|ms|s|m|h|d)){1,9}$/;

const ISO_DURATION = /^PT?(?=\d)(?:(\d{1,6})D)?T?(?:(\d{1,9})H)?(?:(\d{1,9})M)?(?:(\d{1,9}(?:\.\d{1,9})?)S)?$/i;
const TIME_SPAN = /^(?:(\d{1,4})\.)?(\d{1,4}):([0-5]\d):([0-5]\d(?:\.\d{1,9})?)$/;

/**
 * Parses a duration to milliseconds, with fractions: Go's, as OpenAI, Groq and Google write them ("6m0s", "1h30m0.5s",
 * "250µs", also with spaces), ISO 8601's ("PT1M30S"), and .NET's time spans ("00:01:30", "5.03:23:11").
 */
export function parseDuration(text: string): number | undefined {
  const [, ...parts] = ISO_DURATION.exec(text) ?? TIME_SPAN.exec(text) ?? [];
  if (parts.length > 0) {
    const [days = 0, hours = 0, minutes = 0, seconds = 0] = parts.map((part) => Number(part ?? 0));
    return days * DAY_MS + hours * HOUR_MS + minutes * MINUTE_MS + seconds * SECOND_MS;
  }
  // Clients that read headers as Latin-1 put a letter before the micro sign.
  const clean = text
    .replace("Âµ", "µ")
    .replace("Î¼", "μ")
    .replace(/(?<=[a-z]) (?=\d)/g, "");
  if (!DURATION.test(clean)) return undefined;
  let ms = 0;
  for (const [, amount, unit = ""] of clean.matchAll(DURATION_PART)) ms += Number(amount) * (UNITS[unit] ?? 0);
  return ms;
}

/** Parses the end of a window in any form that providers use, and returns the milliseconds until then. */
export function parseReset(text: string, now: number): number | undefined {
  const plain = NUMBER.test(text) ? Number(text) : undefined;
  if (plain !== undefined) {
    if (plain >= EPOCH_MS_FROM) return saneMs(plain - now);
    return plain >= EPOCH_SECONDS_FROM ? saneMs(plain * 1_000 - now) : saneMs(plain * 1_000);
  }
  const duration = parseDuration(text);
  if (duration !== undefined) return saneMs(duration);
  const time = parseTime(text, now);
  return time === undefined ? undefined : saneMs(time - now);
}

const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const RFC3339 = /^(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d):(\d\d)(?:\.(\d{1,12}))?([Zz]|[+-]\d\d:?\d\d)?$/;
const IMF = /^[a-z]{3}, (\d{1,2}) ([a-z]{3}) (\d{4}) (\d\d):(\d\d):(\d\d) (?:GMT|UTC|([+-]\d{4}))$/i;
const RFC850 = /^[a-z]{6,9}, (\d\d)-([a-z]{3})-(\d\d) (\d\d):(\d\d):(\d\d) (?:GMT|UTC)$/i;
const ASCTIME = /^[a-z]{3} ([a-z]{3}) {1,2}(\d{1,2}) (\d\d):(\d\d):(\d\d) (\d{4})$/i;
const FIFTY_YEARS_MS = 50 * 365.25 * DAY_MS;

/** Parses RFC 3339 and the three dates of RFC 9110. All are in UTC; `Date.parse` would read some of them as local time. */
function parseTime(text: string, now: number): number | undefined {
  const iso = RFC3339.exec(text);
  if (iso) {
    const [, year, month, day, hour, minute, second, fraction = "", zone = "Z"] = iso;
    const time = utc(Number(year), Number(month) - 1, Number(day), Number(hour), Number(minute), Number(second));
    if (time === undefined) return undefined;
    return time + Number(`0.${fraction || 0}`) * 1_000 - offsetMs(zone);
  }
  const imf = IMF.exec(text);
  if (imf) {
    const [, day, month = "", year, hour, minute, second, zone = "Z"] = imf;
    const time = utc(Number(year), monthOf(month), Number(day), Number(hour), Number(minute), Number(second));
    return time === undefined ? undefined : time - offsetMs(zone);
  }
  const asctime = ASCTIME.exec(text);
  if (asctime) {
    const [, month = "", day, hour, minute, second, year] = asctime;
    return utc(Number(year), monthOf(month), Number(day), Number(hour), Number(minute), Number(second));
  }
  const rfc850 = RFC850.exec(text);
  if (rfc850) {
    const [, day, month = "", year, hour, minute, second] = rfc850;
    const inCentury = (century: number) =>
      utc(century + Number(year), monthOf(month), Number(day), Number(hour), Number(minute), Number(second));
    const time = inCentury(2000);
    // RFC 9110: a year of two digits that would lie more than fifty years ahead belongs to the last century.
    return time !== undefined && time > now + FIFTY_YEARS_MS ? inCentury(1900) : time;
  }
  return undefined;
}

function monthOf(name: string): number {
  return MONTHS.indexOf(name.toLowerCase());
}

/** Returns undefined for a date that is not in the calendar. Second 60 is a leap second. */
function utc(year: number, month: number, day: number, hour: number, minute: number, second: number) {
  const time = Date.UTC(year, month, day, hour, minute, second);
  const isDate = month >= 0 && month < 12 && new Date(Date.UTC(year, month, day)).getUTCDate() === day;
  return isDate && hour < 24 && minute < 60 && second <= 60 ? time : undefined;
}

function offsetMs(zone: string): number {
  if (zone === "Z" || zone === "z") return 0;
  const digits = zone.replace(":", "");
  const minutes = Number(digits.slice(1, 3)) * 60 + Number(digits.slice(3, 5));
  return (digits.startsWith("-") ? -1 : 1) * minutes * MINUTE_MS;
}
