import type { SwarmReport } from "@hivepace/distributed/testing";

type Drawn = Pick<SwarmReport, "seconds" | "levelSeconds">;

const HEIGHT = 8;
const LABELS = 9;
const BARS = " ▁▂▃▄▅▆▇█";
const NARROWEST = 40;
const USUAL = 80;
const MOST = 120;

/**
 * Draws accepted requests per second relative to the limit, and the level, over time; columns cover as many seconds as
 * needed to fit. Plain text, for any terminal with block elements.
 */
export function terminalChart({ seconds, levelSeconds }: Drawn, columns: number = USUAL): string {
  const width = Math.max(NARROWEST, Math.min(MOST, columns - 1)) - LABELS;
  const perColumn = Math.max(1, Math.ceil(seconds.length / width));
  const accepted = columnsOf(seconds, perColumn, mean);
  const levels = columnsOf(levelSeconds, perColumn, (values) => Math.min(...values));
  const top = Math.max(1.25, Math.ceil(Math.max(...accepted) * 4) / 4);
  const limitRow = Math.round((1 / top) * HEIGHT);
  const rows = Array.from({ length: HEIGHT }, (_, i) => {
    const row = HEIGHT - 1 - i;
    const isLimit = row === limitRow;
    const cells = accepted.map((value) => cell(value, row, top, isLimit ? "┄" : " "));
    return `${label(row, limitRow)}${cells.join("").trimEnd()}`;
  });
  const level = levels.map((value) => BARS[Math.max(1, Math.round(value * (BARS.length - 1)))]);
  return [
    `accepted, ${perColumn === 1 ? "a second" : `${perColumn} seconds`} to a column`,
    ...rows,
    `${" ".repeat(LABELS)}${axis(seconds.length, perColumn, accepted.length)}`,
    `${"level".padStart(LABELS - 2)}  ${level.join("")}`,
    `${" ".repeat(LABELS)}lowest ${Math.round(Math.min(1, ...levelSeconds) * 100)} %`,
  ].join("\n");
}

function columnsOf(
  values: readonly number[],
  perColumn: number,
  of: (values: readonly number[]) => number,
): readonly number[] {
  const columns: number[] = [];
  for (let i = 0; i < values.length; i += perColumn) columns.push(of(values.slice(i, i + perColumn)));
  return columns;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** The part of a column in this row, in eighths of a character. */
function cell(value: number, row: number, top: number, empty: string): string {
  const eighths = Math.round((value / top) * HEIGHT * 8) - row * 8;
  return eighths <= 0 ? empty : (BARS[Math.min(8, eighths)] as string);
}

function label(row: number, limitRow: number): string {
  const text = row === limitRow ? "limit ┤" : row === 0 ? "0 ┤" : "│";
  return `${text.padStart(LABELS - 1)} `;
}

function axis(seconds: number, perColumn: number, length: number): string {
  const stepMinutes = [1, 2, 5, 10, 30, 60, 120, 360].find((m) => (seconds / 60 / m) * 8 <= length) ?? 1_440;
  let text = "";
  for (let minute = 0; minute * 60 <= seconds; minute += stepMinutes) {
    const at = Math.floor((minute * 60) / perColumn);
    const mark = `${minute} min`;
    if (at + mark.length <= length) text = `${text.padEnd(at)}${mark}`;
  }
  return text;
}
