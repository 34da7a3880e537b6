import {
  AggregationTemporality,
  type DataPoint,
  DataPointType,
  type Histogram,
  MeterProvider,
  type MetricData,
  MetricReader,
} from "@opentelemetry/sdk-metrics";

/** Collects when the test says so. */
class TestReader extends MetricReader {
  constructor() {
    super({ aggregationTemporalitySelector: () => AggregationTemporality.CUMULATIVE });
  }

  protected override async onShutdown(): Promise<void> {}
  protected override async onForceFlush(): Promise<void> {}
}

export interface Point {
  readonly attributes: Readonly<Record<string, unknown>>;
  /** Of a histogram, how many there were. */
  readonly value: number;
  /** Of a histogram. */
  readonly sum?: number | undefined;
}

/** A real SDK, and what it has collected in a form that tests can read. */
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

/** Without the namespace that all of ours have. */
function short(attributes: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(attributes).map(([name, value]) => [name.replace(/^hivepace\./, ""), value]),
  );
}
