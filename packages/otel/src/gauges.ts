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

/** Reads the state of objects when somebody asks for the metrics: once for each, for all metrics together. */
export class Gauges {
  readonly #meter: Meter;
  readonly #hook: AttributeHook;
  readonly #instruments: ReadonlyMap<Name, Observable>;
  readonly #observed = new Map<Observed, Attributes>();
  /** All series that there ever were. */
  readonly #known = new Map<string, Series>();
  readonly #callback: BatchObservableCallback;

  constructor(meter: Meter, hook: AttributeHook) {
    this.#meter = meter;
    this.#hook = hook;
    this.#instruments = new Map(NAMES.map((name) => [name, observable(meter, statusMetrics[name])]));
    this.#callback = (result) => {
      for (const { name, value, attributes } of this.#values())
        result.observe(this.#instruments.get(name) as Observable, value, attributes);
    };
    meter.addBatchObservableCallback(this.#callback, [...this.#instruments.values()]);
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
   * What several objects say with the same attributes is one value. A series whose object is gone has its value at rest:
   * without one, the SDK would repeat the last for ever.
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
      // What is unlimited, or has never been, is not shown.
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
