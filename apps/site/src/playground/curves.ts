/** Geometry of the chart: pure functions from figures to SVG paths. */
export const WIDTH = 720;
export const HEIGHT = 280;
const MARGIN = { left: 84, right: 12, top: 16, bottom: 36 };
/** The top of the chart, as a multiple of the limit, is rounded up to this step. */
const STEP = 0.5;

/**
 * The sum of the last minute at each second, as a fraction of the limit: the count of a provider with a sliding window
 * of a minute.
 */
export function lastMinute(seconds: readonly number[]): number[] {
  let sum = 0;
  return seconds.map((value, i) => {
    sum += value - (seconds[i - 60] ?? 0);
    return Math.max(0, sum / 60);
  });
}

/** The highest value of the axis: a multiple of one half, with room above the limit. */
export function topOf(curves: readonly (readonly number[])[]): number {
  const most = Math.max(1.2, ...curves.flat());
  return Math.ceil(most / STEP) * STEP;
}

export function x(second: number, seconds: number): number {
  return MARGIN.left + (second / Math.max(1, seconds)) * (WIDTH - MARGIN.left - MARGIN.right);
}

export function y(value: number, top: number): number {
  return HEIGHT - MARGIN.bottom - (value / top) * (HEIGHT - MARGIN.top - MARGIN.bottom);
}

/** An SVG path through one value per second. */
export function pathOf(values: readonly number[], top: number): string {
  return values
    .map((value, i) => `${i === 0 ? "M" : "L"}${x(i, values.length - 1).toFixed(1)} ${y(value, top).toFixed(1)}`)
    .join("");
}
