import assert from "node:assert/strict";
import { redisPubSubBus } from "@hivepace/bus-redis-pubsub";
import { RateManager } from "@hivepace/core";
import { startGlobalView } from "@hivepace/distributed";
import { redisSync } from "@hivepace/sync-redis";
import { addressOf } from "./addresses.ts";
import { twoMembersAgree } from "./agreement.ts";
import type { Step } from "./step.ts";

/** Counters of two instances, summed in Redis. */
export const redisCounters: Step = {
  name: "global view in Redis",
  async run() {
    const namespace = `smoke-${crypto.randomUUID()}`;
    const start = async (agentId: string) => {
      const store = await redisSync({ url: addressOf("REDIS_URL") });
      // A window of a day does not end in the middle of the step, unless midnight does.
      const manager = new RateManager({ windowMs: 86_400_000 });
      manager.setEndpoint({ id: "api", rpmLimit: 1_000 });
      return { manager, store, view: startGlobalView({ manager, store, agentId, namespace }) };
    };
    const [one, other] = [await start("one"), await start("other")];
    // The first exchange tells an instance the time of the store.
    for (const { view } of [one, other]) await view.refresh();
    for (let i = 0; i < 7; i++) assert.ok(one.manager.check({ endpoint: "api", tokens: 10 }).allowed);
    for (let i = 0; i < 5; i++) assert.ok(other.manager.check({ endpoint: "api", tokens: 10 }).allowed);
    await one.view.refresh();
    await other.view.refresh();
    const { rpm, tpm, agents } = other.view.get("api");
    for (const { view, store } of [one, other]) {
      await view.close();
      await store.close();
    }
    assert.deepEqual({ rpm, tpm, agents }, { rpm: 12, tpm: 120, agents: 2 });
    return `7 and 5 requests of two instances are ${rpm}`;
  },
};

/** A hive whose limit is allocated by a Redis script. */
export const redisStoreHive: Step = {
  name: "hive with a store in Redis",
  run: () =>
    twoMembersAgree(() => ({
      bus: redisPubSubBus({ url: addressOf("REDIS_URL") }),
      sync: redisSync({ url: addressOf("REDIS_URL") }),
      aggregation: "store",
    })),
};
