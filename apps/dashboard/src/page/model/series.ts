import type { LoggedEvent, Point, PointOfLimit } from "../../wire.ts";

/** Columns of a chart: the times in seconds, then columns with a value or null for each time. */
export type Columns = readonly [times: readonly number[], ...values: (readonly (number | null)[])[]];

const timesOf = (points: readonly Point[]): number[] => points.map(({ at }) => at / 1_000);

function limitsOf(points: readonly Point[], resource: string, limit: number): (PointOfLimit | undefined)[] {
  return points.map((point) => point.resources.find((one) => one.resource === resource)?.limits[limit]);
}

/** Admitted, currently allowed, and the limit; and the provider's count of the same dimension, if known. */
export function admitted(
  points: readonly Point[],
  resource: string,
  limit: number,
  dimension: string | undefined,
): Columns {
  const limits = limitsOf(points, resource, limit);
  const counted = points.map(({ provider }) => {
    if (dimension === "requests") return provider?.usedRequests ?? null;
    return dimension === "tokens" ? (provider?.usedTokens ?? null) : null;
  });
  return [
    timesOf(points),
    limits.map((values) => values?.[2] ?? null),
    limits.map((values) => values?.[1] ?? null),
    limits.map((values) => values?.[0] ?? null),
    counted,
  ];
}

/** Level in per cent. */
export function levels(points: readonly Point[], resource: string): Columns {
  const level = (point: Point) => point.resources.find((one) => one.resource === resource)?.level;
  return [timesOf(points), points.map((point) => (level(point) === undefined ? null : (level(point) as number) * 100))];
}

/** Queue length, and the longest estimated wait in seconds. */
export function waits(points: readonly Point[], resource: string, limit: number): Columns {
  const limits = limitsOf(points, resource, limit);
  return [
    timesOf(points),
    limits.map((values) => values?.[3] ?? null),
    limits.map((values) => (values === undefined ? null : values[4] / 1_000)),
  ];
}

/** Requests that the provider accepted and refused in each second. */
export function answers(points: readonly Point[]): Columns {
  return [
    timesOf(points),
    points.map(({ provider }) => provider?.accepted ?? null),
    points.map(({ provider }) => provider?.rejected429 ?? null),
  ];
}

/** Times without a ready bus, in seconds. */
export function outages(points: readonly Point[]): readonly (readonly [from: number, to: number])[] {
  const spans: [number, number][] = [];
  let isOpen = false;
  for (const { at, isBusReady } of points) {
    const span = spans.at(-1);
    if (isOpen && span !== undefined) span[1] = at / 1_000;
    else if (!isBusReady) spans.push([at / 1_000, at / 1_000]);
    isOpen = !isBusReady;
  }
  return spans;
}

/** Times at which this resource was cut or paused, in seconds. */
export function cutTimes(events: readonly LoggedEvent[], resource: string): readonly number[] {
  return events.flatMap(({ at, event }) => {
    if (event.type === "cut" || event.type === "paused") return event.resource === resource ? [at / 1_000] : [];
    return event.type === "announced" && event.update.resource === resource ? [at / 1_000] : [];
  });
}

const SHORTEST_SPAN_S = 120;

/** The time axis of a chart: the whole history, and at least two minutes. */
export function timeRange(times: readonly number[], nowS: number): [number, number] {
  return [Math.min(times[0] ?? nowS, nowS - SHORTEST_SPAN_S), Math.max(times.at(-1) ?? nowS, nowS)];
}
