import { memoryBus } from "@hivepace/bus";
import { expect, test, vi } from "vitest";
import { createHive } from "../../src/index.ts";
import { eachTest } from "../support/each-test.ts";

const world = eachTest();

const EU = { id: "eu", rpmLimit: 10, tpmLimit: 1_000 };

test("an invalid option is named", async () => {
  for (const [options, option] of [
    [{}, "endpoints"],
    [{ endpoints: [{ id: "" }] }, "endpoints[0].id"],
    [{ endpoints: [], keys: { a: { rpmLimit: -1 } } }, "keys.a.rpmLimit"],
    [{ endpoints: [], mode: "maybe" }, "mode"],
    [{ endpoints: [], leaseMs: 0 }, "leaseMs"],
    [{ endpoints: [], bus: {} }, "bus"],
    [{ endpoints: [], bus: "nats://localhost" }, "bus"],
    [{ endpoints: [], bus: null }, "bus"],
    [{ endpoints: [], bus: Promise.resolve({}) }, "bus"],
    [{ endpoints: [], sync: {} }, "sync"],
    [{ endpoints: [], sync: "redis://localhost" }, "sync"],
    [{ endpoints: [], weight: 0 }, "weight"],
    [{ endpoints: [], strategy: "best" }, "strategy"],
  ] as const)
    await expect(createHive(options as never), option).rejects.toMatchObject({ option });
});

test("an agent that has never received a message keeps to its part, and explains the wait", async () => {
  const real = await memoryBus(world.hives.broker, { clock: world.hives.clock });
  const bus = new Proxy(real, {
    get(target, property) {
      if (property === "publish") return () => Promise.reject(new Error("away"));
      if (property === "subscribe") return () => new Promise(() => {});
      const value: unknown = Reflect.get(target, property);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  const opening = world.hives.alone({ endpoints: [{ id: "eu", rpmLimit: 40 }], bus, expectedAgents: 4 });
  await world.hives.clock.run(5_000);
  const hive = await opening;
  expect(hive.status().mode).toBe("joining");
  expect(hive.explain("eu").text).toContain("this agent is new and listens");
  expect(hive.explain("eu").limits).toMatchObject([{ limit: 40, share: 0 }]);
  await world.hives.clock.run(5_000);
  expect(hive.status().mode).toBe("isolated");
  expect(hive.explain("eu").limits).toMatchObject([{ limit: 40, share: 10 }]);
  let granted = 0;
  while (hive.tryAcquire({ endpoint: "eu" }).allowed) granted++;
  expect(granted).toBe(10);
  expect(hive.tryAcquire({ endpoint: "eu" }).retryAfterMs).toBeGreaterThan(55_000);
  expect(hive.explain("eu").text).toContain("this agent does not hear the others and keeps to its part");
  expect(hive.explain("eu").freesInMs).toBeGreaterThan(55_000);
  await world.hives.clock.run(61_000);
  expect(hive.explain("eu").freesInMs).toBe(0);
  await hive.close();
  await real.close();
});

test("an agent whose messages the bus refuses warns once", async () => {
  const real = await memoryBus(world.hives.broker, { clock: world.hives.clock });
  const bus = new Proxy(real, {
    get(target, property) {
      if (property === "publish") return () => Promise.reject(new Error("not allowed"));
      const value: unknown = Reflect.get(target, property);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  const hive = await world.hives.alone({ endpoints: [EU], bus, expectedAgents: 1, heartbeatIntervalMs: 1_000 });
  await world.hives.clock.run(30_000);
  expect(hive.status().unpublished).toBeGreaterThan(5);
  expect(world.warnings.codes.filter((code) => code === "HIVEPACE_PUBLISH_FAILED")).toHaveLength(1);
  expect(hive.status().lastFailure).toContain("not allowed");
  await hive.close();
  await real.close();
});

test("a default namespace is a warning", async () => {
  const bus = memoryBus(world.hives.broker, { clock: world.hives.clock });
  vi.stubEnv("VITEST", "");
  vi.stubEnv("NODE_ENV", "");
  vi.stubEnv("HIVEPACE_TEST_NAMESPACE", "");
  try {
    await world.hives.alone({ endpoints: [EU], bus, expectedAgents: 1 });
  } finally {
    vi.unstubAllEnvs();
  }
  await world.hives.clock.run(1);
  expect(world.warnings.codes.sort()).toEqual(["HIVEPACE_NAMESPACE_GUESSED"]);
});
