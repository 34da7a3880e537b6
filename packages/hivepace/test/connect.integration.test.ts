import { claimPort } from "@hivepace/servers";
import { describeOwnServer, describeServer } from "@hivepace/servers/vitest";
import { until } from "@hivepace/test-kit";
import { describe, expect, test } from "vitest";
import {
  announceCapacity,
  createDistributedLimiter,
  createHive,
  type Hive,
  type HiveOptions,
  observeSwarm,
  openStore,
  RateManager,
  startGlobalView,
} from "../src/index.ts";

const endpoints = [{ id: "eu", rpmLimit: 100 }];
const namespaceOf = (name: string) => `connect-${name}-${process.pid}-${Date.now()}`;

/** Makes one call through the hive, as a program does. */
async function call(hive: Hive): Promise<void> {
  (await hive.acquire({ endpoint: "eu" })).done();
}

for (const kind of ["nats", "redis", "kafka"] as const)
  describeServer(kind, (server) => {
    test("a hive, a limiter and an observer at one address are one swarm, and an announcement reaches them", async () => {
      const bus = kind === "kafka" ? `kafka://${server().url}` : server().url;
      const namespace = namespaceOf(kind);
      const observer = await observeSwarm({ bus, namespace });
      const hive = await createHive({ bus, namespace, endpoints });
      const limiter = await createDistributedLimiter({ bus, namespace, agentId: "limiter" });
      limiter.setCapacity("api", 100, 60_000);
      await until(() => hive.status().members === 2 && observer.snapshot().agents.length === 2, "all have met");
      await call(hive);
      const update = { resource: "api", agentId: "operator", newCapacity: 10, reason: "test", timestamp: new Date() };
      await announceCapacity(update, { bus, namespace });
      await until(() => limiter.getCapacity("api")?.total === 10, "the limiter has heard of the announcement");
      await Promise.all([hive.close(), limiter.close(), observer.close()]);
    });
  });

for (const kind of ["nats", "redis"] as const)
  describeOwnServer(kind, (server) => {
    test("hives that start without the broker work alone, and join each other when it starts", async () => {
      const options: HiveOptions = { bus: server().url, namespace: namespaceOf("late"), endpoints };
      await server().kill();
      const hives = await Promise.all([createHive(options), createHive(options)]);
      await Promise.all(hives.map(call));
      await server().start();
      await until(() => hives.every((hive) => hive.status().members === 2), "the hives have met");
      await Promise.all(hives.map(call));
      await Promise.all(hives.map((hive) => hive.close()));
    });
  });

describeOwnServer("redis", (server) => {
  test("hives at the address of a store share their counts, even if they start without the store", async () => {
    const url = server().url;
    const options: HiveOptions = { bus: url, sync: url, namespace: namespaceOf("store"), endpoints };
    await server().kill();
    const hives = await Promise.all([createHive(options), createHive(options)]);
    await Promise.all(hives.map(call));
    await server().start();
    await until(() => hives.every((hive) => hive.explain("eu").global?.rpm === 2), "each knows both calls");
    await Promise.all(hives.map((hive) => hive.close()));
  });

  test("a store that a program opens serves a global view", async () => {
    const store = await openStore(server().url);
    const manager = new RateManager();
    manager.setEndpoint({ id: "eu", rpmLimit: 100 });
    manager.check({ endpoint: "eu", tokens: 1 });
    const view = startGlobalView({ manager, store, agentId: "a", namespace: namespaceOf("view"), intervalMs: 20 });
    await until(() => view.get("eu").rpm === 1, "the store has answered");
    await view.close();
    await store.close();
  });
});

describe("with an unreachable address", () => {
  test.each(["nats", "redis", "kafka"])("a hive at %s starts, grants calls and closes", async (scheme) => {
    const bus = `${scheme}://127.0.0.1:${await claimPort()}`;
    const hive = await createHive({ bus, namespace: "away", endpoints });
    await call(hive);
    await hive.close();
  });

  test("a hive with a store starts, grants calls and closes", async () => {
    const sync = `redis://127.0.0.1:${await claimPort()}`;
    const hive = await createHive({ sync, namespace: "away", endpoints });
    await call(hive);
    await hive.close();
  });

  test("an announcement rejects", async () => {
    const update = { resource: "eu", agentId: "operator", newCapacity: 1, reason: "test", timestamp: new Date() };
    const options = { bus: `nats://127.0.0.1:${await claimPort()}`, namespace: "away" };
    await expect(announceCapacity(update, options)).rejects.toMatchObject({ code: "BUS_UNAVAILABLE" });
  });
});

describeOwnServer(
  "nats",
  (server) => {
    test("a broker that refuses the credentials is an error, not an outage", async () => {
      const bus = server().url.replace("//", "//agent:wrong@");
      await expect(createHive({ bus, namespace: "refused", endpoints })).rejects.toMatchObject({
        code: "BUS_UNAVAILABLE",
        message: expect.stringContaining("refused the credentials"),
      });
    });
  },
  { config: "authorization { user: agent, password: right }" },
);
