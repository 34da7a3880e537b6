import {
  AggregationTemporality,
  type DataPoint,
  DataPointType,
  type Histogram,
  MeterProvider,
  type MetricData,
  MetricReader,
} from "@opentelemetry/sdk-metrics";

/** A reader that collects only when a test requests it. */
class TestReader extends MetricReader {
  constructor() {
    super({ aggregationTemporalitySelector: () => AggregationTemporality.CUMULATIVE });
  }

  protected override async onShutdown(): Promise<void> {}
  protected override async onForceFlush(): Promise<void> {}
}

export interface Point {
  readonly attributes: Readonly<Record<string, unknown>>;
  /** The value, or the count of a histogram. */
  readonly value: number;
  /** The sum of a histogram. */
  readonly sum?: number | undefined;
}

/** A real SDK for metrics, with the collected data in a readable form. */
export class TestMetrics {
  readonly #reader = new TestReader();
  readonly provider = new MeterProvider({ readers: [this.#reader] });

  async raw() {
    const { resourceMetrics, errors } = await this.#reader.collect();
    if (errors.length > 0) throw errors[0];
    return resourceMetrics;
  }

  async all(): Promise<ReadonlyMap<string, MetricData>> {
    const { scopeMetrics } = await this.raw();
    return new Map(scopeMetrics.flatMap(({ metrics }) => metrics).map((metric) => [metric.descriptor.name, metric]));
  }

  async of(name: string): Promise<Point[]> {
    const metric = (await this.all()).get(name);
    if (!metric) return [];
    if (metric.dataPointType === DataPointType.HISTOGRAM)
      return (metric.dataPoints as DataPoint<Histogram>[]).map(({ attributes, value: { count, sum } }) => ({
        attributes: short(attributes),
        value: count,
        sum,
      }));
    return (metric.dataPoints as DataPoint<number>[]).map(({ attributes, value }) => ({
      attributes: short(attributes),
      value,
    }));
  }

  close(): Promise<void> {
    return this.provider.shutdown();
  }
}

/** Removes the prefix `hivepace.` from attribute names. */
function short(attributes: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(attributes).map(([name, value]) => [name.replace(/^hivepace\./, ""), value]),
  );
}
