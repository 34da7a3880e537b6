import { MemoryLimiter } from "@hivepace/core";
import { endpointName, hivesWith, limitersWith } from "../hives.ts";
import { limit, resource } from "../limit.ts";
import { syncLoop } from "../loop.ts";
import { measureRounds } from "../rounds.ts";
import type { Row } from "../row.ts";
import { median, ratiosOf } from "../statistics.ts";
import type { FreeSuite, SyncOp } from "../suite.ts";
import { realWorld } from "../world.ts";

const LOCAL = "MemoryLimiter.tryAcquire";
const LIMITER = "DistributedLimiter.tryAcquire, member";
const DONE = "Hive.tryAcquire and done()";
const USED = "Hive.tryAcquire and done({ tokens })";

/** The longest times of one call in nanoseconds. */
const WANTED: Readonly<Record<string, number>> = { [LIMITER]: 250, [DONE]: 700, [USED]: 900 };

export const settle: FreeSuite = {
  kind: "free",
  name: "settle",
  title: "One call from its decision to its end, in a swarm: without and with a correction to the actual usage.",
  async measure(parameters) {
    const local = new MemoryLimiter();
    local.setCapacity(resource, limit.tokens, limit.windowMs);
    const limiters = await limitersWith(resource);
    const hives = await hivesWith(1);
    const { first: hive } = hives;
    const request = { endpoint: endpointName(0), tokens: 100 };
    const used = { tokens: 80 };
    const ops: Readonly<Record<string, SyncOp>> = {
      [LOCAL]: () => local.tryAcquire(resource),
      [LIMITER]: () => limiters.first.tryAcquire(resource),
      [DONE]: () => {
        const { lease } = hive.tryAcquire(request);
        lease?.done();
        return lease !== undefined;
      },
      [USED]: () => {
        const { lease } = hive.tryAcquire(request);
        lease?.done(used);
        return lease !== undefined;
      },
    };
    const runners = Object.entries(ops).map(([name, op]) => ({ name, loop: syncLoop(op), requests: 1 }));
    const results = await measureRounds(runners, parameters, realWorld);
    await Promise.all([limiters, hives, local].map((each) => each.close()));
    const times = (name: string): number[] => results.get(name)?.nsPerRequest ?? [];
    return Object.keys(ops).map((what): Row => {
      const row = { what, value: median(times(what)), unit: "ns" };
      if (what === LOCAL) return row;
      const wanted = { of: "value", direction: "at most", limit: WANTED[what] as number } as const;
      return { ...row, against: LOCAL, ratio: ratiosOf(times(what), times(LOCAL)), wanted };
    });
  },
};
