import { RateManager, type SyncCount, type SyncName } from "@hivepace/core";
import { seededRandom } from "@hivepace/core/testing";
import { startGlobalView } from "@hivepace/distributed";
import { redisSync } from "@hivepace/sync-redis";
import { Redis } from "ioredis";
import { shuffled } from "../random.ts";
import type { Row } from "../row.ts";
import { startServer } from "../servers.ts";
import { median, ratiosOf } from "../statistics.ts";
import type { FreeSuite } from "../suite.ts";

const ENDPOINTS = 1_000;
const WINDOW_MS = 86_400_000;
const AGENT = "host-1:12345:0f1e2d3c/8d0f3ab2-6d9d-4b71-9f1c-1f0e5f8b7a65";
const bare = `${ENDPOINTS} HSETs in a pipeline`;

/** A way to send the counts of all endpoints to Redis. */
type Bring = () => Promise<unknown>;

export const sync: FreeSuite = {
  kind: "free",
  name: "sync",
  title: `The counts of ${ENDPOINTS} endpoints to Redis, beside bare pipelined writes of the same fields, which read nothing.`,
  async measure({ rounds, quick, seed }) {
    await using server = await startServer("redis");
    const client = new Redis(server.url);
    await using store = await redisSync(client);
    const names = Array.from(
      { length: ENDPOINTS },
      (_, i): SyncName => ({ kind: "endpoint", id: `endpoint-${i}`, model: "claude" }),
    );
    const keys = names.map(({ id, model }) => `bare:ratelimit:${id}:${model}`);
    const manager = new RateManager({ windowMs: WINDOW_MS });
    for (const { id, model } of names) manager.setEndpoint({ id, model, rpmLimit: 10_000_000 });
    const view = startGlobalView({ manager, store, agentId: "bench", namespace: "view", intervalMs: WINDOW_MS });
    await view.refresh();

    let sequence = 1;
    const [agentId, incarnation] = AGENT.split("/") as [string, string];
    const base = { namespace: "sync", agentId, incarnation, windowMs: WINDOW_MS };
    const { window } = await store.sync({ ...base, sequence, window: undefined, counts: [], watched: [] });
    const report = (counts: readonly SyncCount[], watched: readonly SyncName[]) =>
      store.sync({ ...base, sequence: ++sequence, window, counts, watched });

    const ways: Record<string, Bring> = {
      [bare]: () => {
        sequence++;
        const pipeline = client.pipeline();
        for (const [i, key] of keys.entries()) {
          const own = `${sequence} ${sequence + i}`;
          pipeline.hset(key, "total", `${own} 1`, AGENT, `${own} ${sequence}`);
        }
        return pipeline.exec();
      },
      "a sync, all have changed": () =>
        report(
          names.map((of, i) => ({ of, requests: sequence, tokens: sequence + i })),
          [],
        ),
      "a sync, one in ten has changed": () =>
        report(
          names.slice(0, ENDPOINTS / 10).map((of, i) => ({ of, requests: sequence, tokens: sequence + i })),
          names.slice(ENDPOINTS / 10),
        ),
      "a sync of the view, all have changed": () => {
        for (const { id: endpoint, model } of names) manager.check({ endpoint, model, tokens: 1 });
        return view.refresh();
      },
    };
    const times = new Map(Object.keys(ways).map((name) => [name, [] as number[]]));
    const random = seededRandom(seed);
    const repeats = quick ? 3 : 10;
    try {
      for (let round = -2; round < rounds; round++) {
        for (const [name, bring] of shuffled(Object.entries(ways), random)) {
          const start = performance.now();
          for (let i = 0; i < repeats; i++) await bring();
          if (round >= 0) times.get(name)?.push((performance.now() - start) / repeats);
        }
      }
    } finally {
      await view.close();
      client.disconnect();
    }
    const timesOf = (name: string): number[] => times.get(name) as number[];
    return [...times.keys()].flatMap((what): Row[] => {
      const row = { what, value: median(timesOf(what)), unit: "ms" };
      if (what === bare) return [row];
      const beside = { ...row, against: bare, ratio: ratiosOf(timesOf(what), timesOf(bare)) };
      if (what !== "a sync, all have changed") return [beside];
      return [beside, { ...beside, wanted: { of: "ratio", direction: "at most", limit: 1.5 } }];
    });
  },
};
