import * as bus from "@hivepace/bus";
import * as core from "@hivepace/core";
import * as distributed from "@hivepace/distributed";
import * as fetches from "@hivepace/fetch";
import { expect, expectTypeOf, test } from "vitest";
import * as hivepace from "./index.ts";
import { createHive, createLimitedFetch, MemoryLimiter, type ObservedLimit, type ObservedSwarmLimit } from "./index.ts";

/** Functions that also accept addresses; connect.test.ts tests them. */
const wrapped: readonly string[] = ["announceCapacity", "createDistributedLimiter", "createHive", "observeSwarm"];

test.each<[string, object, readonly string[]]>([
  ["bus", bus, ["DriverBus"]],
  ["core", core, []],
  ["distributed", distributed, wrapped],
  ["fetch", fetches, []],
])("every export of %s is re-exported unchanged", (_, part, others) => {
  expect(hivepace).toMatchObject(Object.fromEntries(Object.entries(part).filter(([name]) => !others.includes(name))));
});

test("every error and guard of the packages is exported", () => {
  const names = [bus, core, distributed, fetches].flatMap((part) => Object.keys(part));
  const needed = names.filter((name) => /Error$|^is[A-Z]/.test(name));
  expect(needed.length).toBeGreaterThan(13);
  expect(Object.keys(hivepace)).toEqual(expect.arrayContaining(needed));
});

test("most programs need one import only", async () => {
  const limiter = new MemoryLimiter();
  limiter.setCapacity("api", 10, 1_000);
  expect(limiter.tryAcquire("api")).toBe(true);
  await limiter.close();
  const bus = hivepace.memoryBus();
  const hive = await createHive({ bus, namespace: "here", endpoints: [{ id: "eu", rpmLimit: 10 }] });
  expect(createLimitedFetch(hive)).toBeTypeOf("function");
  await hive.close();
});

test("both types with a shared name are exported", () => {
  expectTypeOf<ObservedLimit>().toEqualTypeOf<core.ObservedLimit>();
  expectTypeOf<ObservedSwarmLimit>().toEqualTypeOf<distributed.ObservedLimit>();
});
