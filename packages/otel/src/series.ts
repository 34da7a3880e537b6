import type { OfResource } from "@hivepace/core";
import type { Attributes } from "@opentelemetry/api";
import { present } from "./attributes.ts";

/**
 * Number of series that are kept in one table. Names of resources may be unbounded, as for one resource per user; an SDK
 * merges the series above a limit as well.
 */
const MOST_SERIES = 2_000;

/** One time series: the attributes, built once, and the sum that the SDK has not received yet. */
export interface Series {
  readonly attributes: Attributes;
  readonly source: string;
  readonly model: string | undefined;
  readonly first: string | undefined;
  readonly second: string | undefined;
  sum: number;
  hasChanged: boolean;
}

/** The series of a metric, by resource and by up to two more properties of the event. */
export class SeriesTable {
  readonly #byResource = new Map<string, Series[]>();
  readonly #all: Series[] = [];

  /**
   * Returns the series of an event; undefined when there are too many. `first` and `second` distinguish the events of a
   * resource that have different attributes.
   */
  find<E extends OfResource>(
    event: E,
    resource: string,
    first: string | undefined,
    second: string | undefined,
    attributesOf: (event: E) => Attributes,
  ): Series | undefined {
    const { source, model } = event;
    const known = this.#byResource.get(resource);
    if (known)
      for (const each of known)
        if (each.first === first && each.second === second && each.source === source && each.model === model)
          return each;
    if (this.#all.length >= MOST_SERIES) return undefined;
    const attributes = present(attributesOf(event));
    const series: Series = { attributes, source, model, first, second, sum: 0, hasChanged: false };
    if (known) known.push(series);
    else this.#byResource.set(resource, [series]);
    this.#all.push(series);
    return series;
  }

  /** Passes on what has been added since the last call. */
  flush(add: (sum: number, attributes: Attributes) => void): void {
    for (const series of this.#all) {
      if (!series.hasChanged) continue;
      const { sum } = series;
      series.sum = 0;
      series.hasChanged = false;
      add(sum, series.attributes);
    }
  }
}
