import type { Hive } from "@hivepace/distributed";
import { instrumentHivepace } from "@hivepace/otel";
import { AggregationTemporality, MeterProvider, MetricReader } from "@opentelemetry/sdk-metrics";
import type { Family } from "../metrics/family.ts";
import { familiesOf } from "./families.ts";

/** What happens to Hivepace in this thread or process, measured. */
export interface Meter {
  observe(hive: Hive): void;
  /** As it is now. Rejects once it is stopped. */
  families(): Promise<readonly Family[]>;
  stop(): Promise<void>;
}

/** Collects when somebody asks, and never by itself. */
class AskedReader extends MetricReader {
  constructor() {
    super({ aggregationTemporalitySelector: () => AggregationTemporality.CUMULATIVE });
  }

  protected override async onShutdown(): Promise<void> {}
  protected override async onForceFlush(): Promise<void> {}
}

/** As a program has it; but the agent is the instance, which is what our dashboard tells agents apart by. */
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
