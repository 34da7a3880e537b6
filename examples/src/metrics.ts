/** The metrics of a hive, on a page that Prometheus reads. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createHive } from "@hivepace/distributed";
import { instrumentHivepace } from "@hivepace/otel";
import { PrometheusExporter } from "@opentelemetry/exporter-prometheus";
import { MeterProvider } from "@opentelemetry/sdk-metrics";

// Served by the program's own server. Without `preventServerStart` the exporter starts one, on port 9464.
const exporter = new PrometheusExporter({ preventServerStart: true, withoutScopeInfo: true });
const meterProvider = new MeterProvider({ readers: [exporter] });
const server = createServer((request, response) => exporter.getMetricsRequestHandler(request, response)).listen(0);

const hive = await createHive({ namespace: "demo", endpoints: [{ id: "openai", rpmLimit: 3, tpmLimit: 10_000 }] });
const instrumentation = instrumentHivepace({ meterProvider, observe: [hive] });

for (let i = 0; i < 5; i++) {
  const { lease } = hive.tryAcquire({ endpoint: "openai", tokens: 100 });
  lease?.done({ tokens: 80 });
}
hive.tryAcquire({ endpoint: "openai", tokens: 20_000 });
hive.announceReduced("openai", "429 rate_limit_error");

const page = await fetch(`http://localhost:${(server.address() as AddressInfo).port}/metrics`);
for (const line of (await page.text()).split("\n"))
  if (/^hivepace_(decisions|tokens|limit_level|level)/.test(line)) console.log(line);

instrumentation.stop();
await hive.close();
await meterProvider.shutdown();
server.closeAllConnections();
server.close();

/* Output:
hivepace_limit_level{hivepace_namespace="demo",hivepace_resource="openai"} 0.97
hivepace_decisions_total{hivepace_source="hive",hivepace_resource="openai",hivepace_outcome="granted"} 3
hivepace_decisions_total{hivepace_source="hive",hivepace_resource="openai",hivepace_outcome="denied",hivepace_reason="no_tokens",hivepace_limited_by="endpoint-rpm"} 2
hivepace_decisions_total{hivepace_source="hive",hivepace_resource="openai",hivepace_outcome="denied",hivepace_reason="too_large",hivepace_limited_by="endpoint-tpm"} 1
hivepace_tokens_total{hivepace_source="hive",hivepace_resource="openai"} 240
hivepace_level_changes_total{hivepace_source="hive",hivepace_resource="openai",hivepace_level_cause="cut"} 1
*/
