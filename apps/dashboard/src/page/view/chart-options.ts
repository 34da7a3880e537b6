import uPlot from "uplot";
import { clockTime } from "../model/format.ts";
import { colour } from "./colour.ts";

/** A line of a chart. The kind determines colour and dash, in the chart and in the legend. */
export interface Line {
  readonly label: string;
  readonly kind: "used" | "total" | "limit" | "provider" | "refused" | "waiting" | "longest" | "level" | "accepted";
  /** Formats the line's values, when not in the chart's format. */
  readonly show?: (value: number) => string;
  readonly isStepped?: boolean;
  readonly isBars?: boolean;
  readonly isFilled?: boolean;
  /** Whether the line uses the scale on the right. */
  readonly isRight?: boolean;
}

/** Parts of a chart besides the lines. Times in seconds. */
export interface Drawing {
  readonly nowS: number;
  readonly cuts: readonly number[];
  readonly outages: readonly (readonly [from: number, to: number])[];
  readonly show: (value: number) => string;
}

const DASHES: Partial<Record<Line["kind"], number[]>> = { limit: [2, 4], provider: [6, 4], longest: [5, 4] };
/** Axis steps of whole amounts only. */
const STEPS = Array.from({ length: 13 }, (_, power) => [1, 2, 5].map((step) => step * 10 ** power)).flat();
const FONT = '11px system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif';

export function chartOptions(lines: readonly Line[], current: () => Drawing, maxY?: number): uPlot.Options {
  const [ink, grid] = [colour("--muted"), colour("--grid")];
  const axis = { stroke: ink, font: FONT, grid: { stroke: grid, width: 1 }, ticks: { show: false } };
  const showAxis = (line: Line | undefined) => (_: uPlot, values: readonly number[]) =>
    values.map((value) => (line?.show ?? current().show)(value));
  const right = lines.find(({ isRight }) => isRight);
  const range = (_: uPlot, __: number, most: number): [number, number] => [0, maxY ?? Math.max(1, (most || 0) * 1.08)];
  return {
    width: 300,
    height: 180,
    legend: { show: false },
    cursor: { y: false, points: { size: 7 }, drag: { setScale: false, x: false, y: false } },
    padding: [8, right === undefined ? 20 : 0, 0, 0],
    scales: { x: { time: true, auto: false }, y: { range }, right: { range } },
    series: [{}, ...lines.map(seriesOf)],
    axes: [
      { ...axis, size: 26, space: 84, values: showTimes },
      { ...axis, size: 46, space: 34, incrs: STEPS, values: showAxis(lines.find(({ isRight }) => !isRight)) },
      ...(right === undefined
        ? []
        : [
            {
              ...axis,
              scale: "right",
              side: 1 as const,
              size: 42,
              incrs: [0.1, 0.2, 0.5, ...STEPS],
              grid: { show: false },
              values: showAxis(right),
            },
          ]),
    ],
    hooks: {
      drawClear: [(plot) => drawMarks(plot, current())],
      setCursor: [(plot) => drawHint(plot, lines, current())],
    },
  };
}

/** Adds seconds to the labels when they are less than a minute apart. */
const showTimes = (_: uPlot, times: readonly number[], __: number, ___: number, stepS: number): string[] =>
  times.map((time) => clockTime(time * 1_000).slice(0, stepS < 60 ? 8 : 5));

function seriesOf({ label, kind, isStepped, isBars, isFilled, isRight }: Line): uPlot.Series {
  const stroke = colour(`--line-${kind}`);
  const dash = DASHES[kind];
  return {
    label,
    stroke,
    width: kind === "limit" ? 1.5 : 2,
    points: { show: false },
    scale: isRight ? "right" : "y",
    ...(dash && { dash }),
    ...(isFilled && { fill: colour(`--fill-${kind}`) }),
    ...(isBars && { fill: stroke, width: 0, paths: uPlot.paths.bars?.({ size: [0.8, 8] }) ?? null }),
    ...(isStepped && { paths: uPlot.paths.stepped?.({ align: 1 }) ?? null }),
  } as uPlot.Series;
}

/** Shades outages of the bus, and marks cuts. */
function drawMarks(plot: uPlot, { cuts, outages }: Drawing): void {
  const { ctx, bbox } = plot;
  const at = (time: number): number =>
    Math.min(Math.max(plot.valToPos(time, "x", true), bbox.left), bbox.left + bbox.width);
  ctx.save();
  ctx.fillStyle = colour("--outage");
  for (const [from, to] of outages) ctx.fillRect(at(from), bbox.top, Math.max(2, at(to) - at(from)), bbox.height);
  ctx.fillStyle = colour("--line-refused");
  const unit = devicePixelRatio;
  for (const time of cuts) {
    const x = plot.valToPos(time, "x", true);
    if (x < bbox.left || x > bbox.left + bbox.width) continue;
    ctx.globalAlpha = 0.45;
    ctx.fillRect(x - unit / 2, bbox.top, unit, bbox.height);
    ctx.globalAlpha = 1;
    ctx.beginPath();
    ctx.moveTo(x - 5 * unit, bbox.top);
    ctx.lineTo(x + 5 * unit, bbox.top);
    ctx.lineTo(x, bbox.top + 7 * unit);
    ctx.fill();
  }
  ctx.restore();
}

/** Shows the values below the pointer as text. */
function drawHint(plot: uPlot, lines: readonly Line[], { show }: Drawing): void {
  const hint = hintOf(plot);
  const { idx, left } = plot.cursor;
  const time = idx == null ? undefined : plot.data[0][idx];
  hint.hidden = time === undefined || left === undefined || left < 0;
  if (hint.hidden || idx == null || time === undefined) return;
  const values = lines.flatMap(({ label, show: own }, i) => {
    const value = plot.data[i + 1]?.[idx];
    return value == null ? [] : [`${label} ${(own ?? show)(value)}`];
  });
  hint.textContent = [clockTime(time * 1_000), ...values].join("\n");
  hint.classList.toggle("is-left", (left ?? 0) > plot.over.clientWidth / 2);
}

function hintOf(plot: uPlot): HTMLElement {
  const found = plot.over.querySelector<HTMLElement>(".hint");
  if (found !== null) return found;
  const hint = document.createElement("div");
  hint.className = "hint";
  plot.over.append(hint);
  return hint;
}
