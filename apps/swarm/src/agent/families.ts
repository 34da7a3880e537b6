import type { Attributes } from "@opentelemetry/api";
import { DataPointType, type Histogram, type MetricData } from "@opentelemetry/sdk-metrics";
import type { Family } from "../metrics/family.ts";

/**
 * Converts metrics to Prometheus' text format, as OpenTelemetry's Prometheus exporter does, with extra labels on every
 * value. The exporter itself would more than double the size of the bundle; a test compares the two outputs.
 */
export function familiesOf(metrics: readonly MetricData[], labels: Attributes): Family[] {
  return metrics.flatMap((metric) => {
    const { description } = metric.descriptor;
    const isCounter = metric.dataPointType === DataPointType.SUM && metric.isMonotonic;
    const name = `${nameOf(metric.descriptor.name)}${isCounter ? "_total" : ""}`;
    const samples = samplesOf(name, metric, labels);
    if (samples === "") return [];
    const type = metric.dataPointType === DataPointType.HISTOGRAM ? "histogram" : isCounter ? "counter" : "gauge";
    return [{ name, head: `# HELP ${name} ${escaped(description)}\n# TYPE ${name} ${type}\n`, samples }];
  });
}

function samplesOf(name: string, metric: MetricData, labels: Attributes): string {
  switch (metric.dataPointType) {
    case DataPointType.SUM:
    case DataPointType.GAUGE:
      return metric.dataPoints
        .map(({ attributes, value }) => sample(name, { ...attributes, ...labels }, value))
        .join("");
    case DataPointType.HISTOGRAM:
      return metric.dataPoints
        .map(({ attributes, value }) => histogram(name, { ...attributes, ...labels }, value))
        .join("");
    default:
      // The text format cannot express exponential histograms, and Hivepace does not record any.
      return "";
  }
}

function histogram(name: string, labels: Attributes, { count, sum, buckets }: Histogram): string {
  let below = 0;
  const lines = buckets.counts.map((inBucket, i) => {
    below += inBucket;
    return sample(`${name}_bucket`, { ...labels, le: String(buckets.boundaries[i] ?? "+Inf") }, below);
  });
  return [sample(`${name}_count`, labels, count), sample(`${name}_sum`, labels, sum ?? 0), ...lines].join("");
}

function sample(name: string, labels: Attributes, value: number): string {
  const pairs = Object.entries(labels).map(([label, of]) => `${nameOf(label)}="${quotable(of)}"`);
  return `${name}{${pairs.join(",")}} ${value}\n`;
}

function nameOf(name: string): string {
  return name.replace(/[^a-zA-Z0-9]+/g, "_");
}

function quotable(value: Attributes[string]): string {
  return escaped(typeof value === "string" ? value : JSON.stringify(value)).replaceAll('"', '\\"');
}

function escaped(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");
}
