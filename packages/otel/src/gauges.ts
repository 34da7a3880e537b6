import type { Attributes, BatchObservableCallback, Meter, Observable } from "@opentelemetry/api";
import { type AttributeHook, present } from "./attributes.ts";
import { type StatusMetric, statusMetrics } from "./catalogue.ts";
import { type Note, read } from "./readings.ts";
import type { Observed } from "./sources.ts";
import { safely } from "./subscriptions.ts";

type Name = keyof typeof statusMetrics;
const NAMES = Object.keys(statusMetrics) as Name[];

interface Series {
  readonly name: Name;
  readonly attributes: Attributes;
  value: number;
}

/** Observes the state of objects at each collection: once per object, for all metrics together. */
export class Gauges {
  readonly #meter: Meter;
  readonly #hook: AttributeHook;
  readonly #instruments: ReadonlyMap<Name, Observable>;
  readonly #observed = new Map<Observed, Attributes>();
  /** All series observed so far, so that a series keeps being reported after its object is gone. */
  readonly #known = new Map<string, Series>();
  readonly #callback: BatchObservableCallback;
  readonly #before: (() => void)[] = [];

  constructor(meter: Meter, hook: AttributeHook) {
    this.#meter = meter;
    this.#hook = hook;
    this.#instruments = new Map(NAMES.map((name) => [name, observable(meter, statusMetrics[name])]));
    this.#callback = (result) => {
      for (const work of this.#before) safely(work);
      for (const { name, value, attributes } of this.#values())
        result.observe(this.#instruments.get(name) as Observable, value, attributes);
    };
    meter.addBatchObservableCallback(this.#callback, [...this.#instruments.values()]);
  }

  /** Runs `work` at the beginning of each collection. */
  beforeCollection(work: () => void): void {
    this.#before.push(work);
  }

  add(observed: Observed, attributes: Attributes): void {
    this.#observed.set(observed, attributes);
  }

  remove(observed: Observed): void {
    this.#observed.delete(observed);
  }

  stop(): void {
    this.#observed.clear();
    this.#known.clear();
    this.#meter.removeBatchObservableCallback(this.#callback, [...this.#instruments.values()]);
  }

  /**
   * Merges the values of several objects with equal attributes. A series whose object is gone gets its value at rest;
   * otherwise the SDK would repeat the last value for ever.
   */
  #values(): Iterable<Series> {
    const present = new Map<string, Series>();
    for (const [observed, own] of this.#observed)
      safely(() => {
        if (!read(observed, this.#noteInto(present, own))) this.#observed.delete(observed);
      });
    for (const [key, series] of present) this.#known.set(key, series);
    for (const [key, { name, attributes }] of this.#known)
      if (!present.has(key)) present.set(key, { name, attributes, value: statusMetrics[name].atRest });
    return present.values();
  }

  #noteInto(series: Map<string, Series>, own: Attributes): Note {
    return (name, value, given = {}) => {
      // Unlimited and unknown values are not reported.
      if (value === undefined || !Number.isFinite(value)) return;
      const { merge, name: metric } = statusMetrics[name];
      const attributes = this.#hook(present({ ...given, ...own }), { name: metric });
      const key = JSON.stringify([name, Object.entries(attributes).sort()]);
      const known = series.get(key);
      if (!known) series.set(key, { name, value, attributes });
      else known.value = MERGE[merge](known.value, value);
    };
  }
}

const MERGE = {
  sum: (a: number, b: number) => a + b,
  max: Math.max,
  min: Math.min,
} as const;

function observable(meter: Meter, { kind, name, unit, description }: StatusMetric): Observable {
  const options = { unit, description };
  return kind === "gauge"
    ? meter.createObservableGauge(name, options)
    : meter.createObservableUpDownCounter(name, options);
}
