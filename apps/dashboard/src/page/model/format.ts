import type { LimitFrame } from "../../wire.ts";

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const tenths = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });
const compact = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });

/** Placeholder for an unknown value or an absent limit. */
export const NOTHING = "–";
const UNLIMITED = "no limit";

/** All digits below 10,000, then compact such as 12.3K, to fit into a cell. */
export function amount(value: number): string {
  if (Math.abs(value) >= 10_000) return compact.format(value);
  return Math.abs(value) < 10 ? tenths.format(value) : whole.format(value);
}

export const limitText = (value: number | null | undefined): string => (value == null ? UNLIMITED : amount(value));

/** Never rounds to 0 % or 100 %. */
export function percent(part: number): string {
  const value = part * 100;
  if (value > 0 && value < 1) return "< 1 %";
  if (value > 99 && value < 100) return "> 99 %";
  return `${whole.format(value)} %`;
}

export function duration(ms: number): string {
  if (ms < 950) return `${tenths.format(Math.round(ms / 100) / 10)} s`;
  const seconds = ms / 1_000;
  if (seconds < 10) return `${tenths.format(seconds)} s`;
  if (seconds < 90) return `${whole.format(seconds)} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 90) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.round(hours / 24)} days`;
}

/** Returns "a minute" and the like, for amounts per window. */
export function perWindow(windowMs: number): string {
  const known = new Map([
    [1_000, "a second"],
    [60_000, "a minute"],
    [3_600_000, "an hour"],
    [86_400_000, "a day"],
  ]);
  return known.get(windowMs) ?? `in ${duration(windowMs)}`;
}

export const clockTime = (at: number): string =>
  new Date(at).toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });

const UNITS = {
  requests: "requests",
  tokens: "tokens",
  inputTokens: "input tokens",
  outputTokens: "output tokens",
  inFlight: "calls under way",
} as const;

/** The unit of a limit. */
export const unitOf = ({ dimension }: Pick<LimitFrame, "dimension">): string =>
  dimension === undefined ? "units" : UNITS[dimension];

/** The unit of a limit and its window. */
export const rateOf = (limit: Pick<LimitFrame, "dimension">, windowMs: number): string =>
  limit.dimension === "inFlight" ? unitOf(limit) : `${unitOf(limit)} ${perWindow(windowMs)}`;

export const plural = (count: number, one: string, many = `${one}s`): string =>
  `${amount(count)} ${count === 1 ? one : many}`;
