import { type Clock, RateManager, systemClock } from "@hivepace/core";
import { describeOwnServer } from "@hivepace/servers/vitest";
import { redisSync } from "@hivepace/sync-redis";
import { until } from "@hivepace/test-kit";
import { Redis } from "ioredis";
import { afterEach, expect, test } from "vitest";
import { type GlobalView, startGlobalView } from "../src/index.ts";

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

describeOwnServer("redis", (server) => {
  async function start(manager: RateManager, agentId: string, options: { intervalMs: number; clock?: Clock }) {
    const store = await redisSync({ url: server().url });
    closers.push(() => store.close());
    const view = startGlobalView({ manager, store, agentId, namespace: "calm", ...options });
    closers.push(() => view.close());
    return view;
  }

  /** Returns the commands that the server executed during `work`, without INFO, which counts them. */
  async function asked(work: () => Promise<void>): Promise<Record<string, number>> {
    const redis = new Redis(server().url);
    closers.push(() => redis.disconnect());
    const calls = async () =>
      [...(await redis.info("commandstats")).matchAll(/cmdstat_(\S+):calls=(\d+)/g)].map(
        ([, name = "", total]) => [name, Number(total)] as const,
      );
    const before = new Map(await calls());
    await work();
    const made = (await calls()).map(([name, total]) => [name, total - (before.get(name) ?? 0)] as const);
    return Object.fromEntries(made.filter(([name, total]) => name !== "info" && total > 0));
  }

  test.each([1, 1_000])(
    "each sync of a view of %i endpoints is one command, and the server executes only its script",
    async (count) => {
      // A window long enough that none ends during a test: the present one ends in 2033.
      const manager = new RateManager({ windowMs: 1_000_000_000_000 });
      const ids = Array.from({ length: count }, (_, i) => `${count}-${i}`);
      for (const id of ids) manager.setEndpoint({ id, rpmLimit: 1_000 });
      const view = await start(manager, "a", { intervalMs: 3_600_000 });
      await view.refresh();
      const use = (some: readonly string[]) => {
        for (const endpoint of some) manager.check({ endpoint, tokens: 1 });
      };
      use(ids);
      await view.refresh();
      const made = await asked(async () => {
        use(ids);
        await view.refresh();
        use(ids.slice(0, 1));
        await view.refresh();
        await view.refresh();
      });
      expect(made).toEqual({ evalsha: 3, time: 3, hmget: 3 * count, hset: count + 1 });
      expect(view.get(`${count}-0`)).toMatchObject({ rpm: 3, agents: 1 });
    },
  );

  test("an instance whose own clock is 20 s off has the windows of the Redis server's clock, and the same sums", async () => {
    const windowMs = 3_000;
    const wrong: Clock = {
      now: () => systemClock.now(),
      epochMs: () => systemClock.epochMs() + 20_000,
      after: (ms, callback, options) => systemClock.after(ms, callback, options),
    };
    const managers = [new RateManager({ windowMs }), new RateManager({ windowMs, clock: wrong })];
    const views: GlobalView[] = [];
    for (const [i, manager] of managers.entries()) {
      manager.setEndpoint({ id: "eu", rpmLimit: 1_000_000 });
      views.push(await start(manager, `agent ${i}`, { intervalMs: 50, ...(i > 0 && { clock: wrong }) }));
    }
    const left = () => managers.map((manager) => manager.snapshot().remainingMs) as [number, number];
    const apart = ([one, other]: [number, number]) => Math.abs(one - other);
    expect(apart(left())).toBeGreaterThan(900);
    await until(() => apart(left()) < 100, "the windows are the same");
    await until(async () => {
      for (const manager of managers) manager.check({ endpoint: "eu", tokens: 1 });
      for (const view of [...views, ...views]) await view.refresh();
      const counted = managers.map((manager) => manager.snapshot().endpoints[0]?.requests ?? 0) as [number, number];
      const sums = views.map((view) => view.get("eu").rpm);
      return counted[0] > 2 && counted[0] === counted[1] && sums.every((rpm) => rpm === counted[0] + counted[1]);
    }, "both see what both have counted in one window");
  });
});
