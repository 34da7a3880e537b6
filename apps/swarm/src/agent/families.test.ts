import { PrometheusSerializer } from "@opentelemetry/exporter-prometheus";
import { InMemoryMetricExporter, MeterProvider, PeriodicExportingMetricReader } from "@opentelemetry/sdk-metrics";
import { expect, test } from "vitest";
import { textOf } from "../metrics/family.ts";
import { familiesOf } from "./families.ts";

/** Records metrics and returns them as the OpenTelemetry SDK collects them. */
async function collected(record: (meter: ReturnType<MeterProvider["getMeter"]>) => void) {
  const exporter = new InMemoryMetricExporter(1);
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3_600_000 });
  const provider = new MeterProvider({ readers: [reader] });
  record(provider.getMeter("test"));
  const { resourceMetrics } = await reader.collect();
  await provider.shutdown();
  const metrics = resourceMetrics.scopeMetrics.flatMap((scope) => scope.metrics);
  return { resourceMetrics, metrics };
}

test("every kind of metric, name and label is written as OpenTelemetry's exporter for Prometheus writes it", async () => {
  const { resourceMetrics, metrics } = await collected((meter) => {
    const counter = meter.createCounter("hivepace.some.count", {
      unit: "{thing}",
      description: "Two\nlines \\ of it.",
    });
    counter.add(2, { "hivepace.resource": 'a "quoted"\n\\name', "hivepace.call.retry": true });
    counter.add(0.5, { "hivepace.resource": "other", list: ["a", "b"] });
    meter.createUpDownCounter("hivepace.up_and.down", { description: "Both." }).add(-3);
    meter.createGauge("hivepace.gauge", { unit: "1", description: "Level." }).record(1e-9, { "odd..label-name": "x" });
    const advice = { explicitBucketBoundaries: [0.1, 1, 10] };
    const histogram = meter.createHistogram("hivepace.wait.duration", { unit: "s", description: "Waits.", advice });
    for (const value of [0.05, 0.1, 0.7, 3, 70]) histogram.record(value, { outcome: "granted" });
    histogram.record(2, { outcome: "aborted" });
  });
  // The exporter takes the label of every value from the resource. It also writes units as comments, which the text
  // format does not define; they are switched off.
  const resource = { ...resourceMetrics.resource, attributes: { instance: "agent-1" } };
  const theirs = new PrometheusSerializer("", false, /^instance$/, true, true).serialize({
    ...resourceMetrics,
    resource,
  });
  const ours = textOf([familiesOf(metrics, { instance: "agent-1" })]);
  expect(ours).toBe(theirs.replace(/^# UNIT .*\n/gm, ""));
  expect(ours).toContain('hivepace_some_count_total{hivepace_resource="a \\"quoted\\"\\n\\\\name"');
  expect(ours).toContain('hivepace_wait_duration_bucket{outcome="granted",instance="agent-1",le="+Inf"} 5\n');
});

test("a metric without values is left out", async () => {
  const { metrics } = await collected((meter) => {
    meter.createCounter("hivepace.never");
    meter.createCounter("hivepace.once").add(1);
  });
  expect(familiesOf(metrics, {}).map(({ name }) => name)).toEqual(["hivepace_once_total"]);
});
