import type { Hive } from "@hivepace/distributed";
import { instrumentHivepace } from "@hivepace/otel";
import { AggregationTemporality, MeterProvider, MetricReader } from "@opentelemetry/sdk-metrics";
import type { Family } from "../metrics/family.ts";
import { familiesOf } from "./families.ts";

/** The metrics of Hivepace in this thread or process. */
export interface Meter {
  observe(hive: Hive): void;
  /** Collects the current values. Rejects after `stop`. */
  families(): Promise<readonly Family[]>;
  stop(): Promise<void>;
}

/** A metric reader that collects on request only, without a timer. */
class AskedReader extends MetricReader {
  constructor() {
    super({ aggregationTemporalitySelector: () => AggregationTemporality.CUMULATIVE });
  }

  protected override async onShutdown(): Promise<void> {}
  protected override async onForceFlush(): Promise<void> {}
}

/**
 * Instruments Hivepace as an application does. The agent id becomes the `instance` label, by which the Grafana
 * dashboard tells agents apart.
 */
export function startMeter(agentId: string): Meter {
  const reader = new AskedReader();
  const meterProvider = new MeterProvider({ readers: [reader] });
  const instrumentation = instrumentHivepace({ meterProvider, traces: false });
  return {
    observe: (hive) => void instrumentation.observe(hive),
    families: async () => {
      const { scopeMetrics } = (await reader.collect()).resourceMetrics;
      return familiesOf(
        scopeMetrics.flatMap(({ metrics }) => metrics),
        { instance: agentId },
      );
    },
    stop: async () => {
      instrumentation.stop();
      await meterProvider.shutdown();
    },
  };
}
