import * as core from "@hivepace/core";
import * as distributed from "@hivepace/distributed";
import * as fetches from "@hivepace/fetch";
import { expect, expectTypeOf, test } from "vitest";
import * as hivepace from "./index.ts";
import { createHive, createLimitedFetch, MemoryLimiter, type ObservedLimit, type ObservedSwarmLimit } from "./index.ts";

test.each([
  ["core", core],
  ["distributed", distributed],
  ["fetch", fetches],
])("all of %s is here, and the very same", (_, part) => {
  expect(hivepace).toMatchObject(part);
});

test("what most programs need is one import", async () => {
  const limiter = new MemoryLimiter();
  limiter.setCapacity("api", 10, 1_000);
  expect(limiter.tryAcquire("api")).toBe(true);
  await limiter.close();
  const bus = hivepace.memoryBus();
  const hive = await createHive({ bus, namespace: "here", endpoints: [{ id: "eu", rpmLimit: 10 }] });
  expect(createLimitedFetch(hive)).toBeTypeOf("function");
  await hive.close();
});

test("the two that share a name are both here", () => {
  expectTypeOf<ObservedLimit>().toEqualTypeOf<core.ObservedLimit>();
  expectTypeOf<ObservedSwarmLimit>().toEqualTypeOf<distributed.ObservedLimit>();
});
