import { refuse } from "../usage-error.ts";

const UNITS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  min: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};
const LONGEST_MS = 2 ** 31 - 1;

/**
 * Parses a duration such as `1500`, `1500ms`, `1.5s`, `2m` or `1h` to milliseconds.
 *
 * @throws UsageError when the text is not a duration.
 */
export function parseDuration(option: string, text: string): number {
  const [, amount = "", unit = "ms"] = /^(\d+(?:\.\d+)?)(ms|s|m|min|h|d)?$/.exec(text.trim()) ?? [];
  const ms = amount === "" ? Number.NaN : Number(amount) * (UNITS[unit] as number);
  if (!(ms > 0 && ms <= LONGEST_MS))
    refuse(option, "a duration above 0 and up to 24 days, such as 1500ms, 5s or 2m", text);
  return Math.ceil(ms);
}

/** Formats a duration for output, with about two digits of the unit that fits. */
export function showDuration(ms: number): string {
  if (ms < 999.5) return `${Math.round(ms)} ms`;
  if (ms < 59_950) return `${trim(ms / 1_000)} s`;
  if (ms < 3_597_000) return `${trim(ms / 60_000)} min`;
  return ms < 172_800_000 ? `${trim(ms / 3_600_000)} h` : `${trim(ms / 86_400_000)} d`;
}

function trim(amount: number): string {
  return String(amount < 10 ? Math.round(amount * 10) / 10 : Math.round(amount));
}
