import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import * as core from "@hivepace/core";
import { build } from "esbuild";
import { afterEach, beforeEach, expect, test } from "vitest";
import { instrumentHivepace } from "../src/index.ts";
import { TestMetrics } from "./support/telemetry.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "hivepace-copies-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

test("events of all copies of the core in a process are received, because channels are identified by name", async () => {
  const outfile = join(folder, "core.mjs");
  const entry = fileURLToPath(import.meta.resolve("@hivepace/core"));
  await build({ entryPoints: [entry], bundle: true, format: "esm", platform: "neutral", outfile });
  const copy = (await import(pathToFileURL(outfile).href)) as typeof core;
  expect(copy.MemoryLimiter).not.toBe(core.MemoryLimiter);

  const metrics = new TestMetrics();
  const limiters = [new core.MemoryLimiter(), new copy.MemoryLimiter()];
  const { stop } = instrumentHivepace({ meterProvider: metrics.provider, observe: limiters });
  for (const [i, limiter] of limiters.entries()) {
    limiter.setCapacity(`api-${i}`, 1, 1_000);
    limiter.tryAcquire(`api-${i}`);
  }
  const resources = (await metrics.of("hivepace.decisions")).map(({ attributes }) => attributes["resource"]);
  expect(resources).toEqual(["api-0", "api-1"]);
  expect(await metrics.of("hivepace.requests.in_flight")).toHaveLength(2);
  stop();
  await Promise.all(limiters.map((limiter) => limiter.close()));
  await metrics.close();
});
