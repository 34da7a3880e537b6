import { limit, resource } from "./limit.ts";
import { syncLoop } from "./loop.ts";
import type { Listener, ObservedReading } from "./suites/observed.ts";

/** Measures with the given kind of listener for the given time, and prints an ObservedReading. */
const [, , listener = "", ms = ""] = process.argv as [string, string, Listener, string];

// Without `getBuiltinModule` the packages find no diagnostics channels.
if (listener === "no channels") Object.defineProperty(process, "getBuiltinModule", { value: undefined });
const { MemoryLimiter } = await import("@hivepace/core");
const { createHive } = await import("@hivepace/distributed");
if (listener === "OpenTelemetry") {
  const { MeterProvider } = await import("@opentelemetry/sdk-metrics");
  const { instrumentHivepace } = await import("@hivepace/otel");
  instrumentHivepace({ meterProvider: new MeterProvider(), traces: false });
}

const limiter = new MemoryLimiter();
limiter.setCapacity(resource, limit.tokens, limit.windowMs);
const hive = await createHive({ endpoints: [{ id: "openai", rpmLimit: 1e7, tpmLimit: 4e9 }], windowMs: 1_000 });
const request = { endpoint: "openai", tokens: 100 };
const calls = {
  tryAcquire: () => limiter.tryAcquire(resource),
  lease: () => {
    const { lease } = hive.tryAcquire(request);
    lease?.done();
    return lease !== undefined;
  },
};

/** Returns the nanoseconds of one call. */
function measure(call: () => boolean): number {
  const loop = syncLoop(call);
  const batch = 10_000;
  const run = (forMs: number): number => {
    const start = performance.now();
    let done = 0;
    for (; performance.now() - start < forMs; done += batch)
      if (loop(batch) !== batch) throw new Error("a call was denied that should not be");
    return ((performance.now() - start) * 1e6) / done;
  };
  run(Number(ms) / 2);
  return run(Number(ms));
}

const reading: ObservedReading = { tryAcquire: measure(calls.tryAcquire), lease: measure(calls.lease) };
process.stdout.write(JSON.stringify(reading), () => process.exit());
