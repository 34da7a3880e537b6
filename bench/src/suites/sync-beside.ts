import { setImmediate as nextTurn } from "node:timers/promises";
import { RateManager } from "@hivepace/core";
import { seededRandom } from "@hivepace/core/testing";
import { startGlobalView } from "@hivepace/distributed";
import { redisSync } from "@hivepace/sync-redis";
import { shuffled } from "../random.ts";
import type { Row } from "../row.ts";
import { startServer } from "../servers.ts";
import { median, ratiosOf } from "../statistics.ts";
import type { FreeSuite } from "../suite.ts";

const ENDPOINTS = 100;
/** Calls between two turns of the event loop, in which a sync may continue. */
const BATCH = 2_000;
const alone = "handle.check, without a sync";
/** A second measurement of the same: its difference is noise. */
const again = "handle.check, without a sync, once more";
const beside = "handle.check, a sync every second beside it";
/** A ratio up to this counts as no difference, however quiet the machine is. */
const NO_DIFFERENCE = 1.05;

function world() {
  const manager = new RateManager({ windowMs: 86_400_000 });
  for (let i = 0; i < ENDPOINTS; i++) manager.setEndpoint({ id: `endpoint-${i}` });
  const handle = manager.handle({ endpoint: "endpoint-0" });
  /** Nanoseconds per call during `ms` of continuous calls, including all background work. */
  const busy = async (ms: number): Promise<number> => {
    const start = performance.now();
    let calls = 0;
    while (performance.now() - start < ms) {
      for (let i = 0; i < BATCH; i++) handle.check(10);
      calls += BATCH;
      await nextTurn();
    }
    return ((performance.now() - start) * 1e6) / calls;
  };
  return { manager, busy };
}

/** One process runs all variants in turns; the syncs of one are stopped while the others are measured. */
export const syncBeside: FreeSuite = {
  kind: "free",
  name: "sync-beside",
  title: `Decisions with and without the counts of ${ENDPOINTS} endpoints being synced with Redis every second beside them.`,
  async measure({ rounds, quick, seed }) {
    await using server = await startServer("redis");
    await using store = await redisSync({ url: server.url });
    const worlds = { [alone]: world(), [again]: world(), [beside]: world() };
    const sliceMs = quick ? 300 : 1_100;
    const intervalMs = quick ? 250 : 1_000;
    const times = { [alone]: [] as number[], [again]: [] as number[], [beside]: [] as number[] };
    const random = seededRandom(seed);
    for (let round = -1; round < rounds; round++) {
      for (const who of shuffled([alone, again, beside] as const, random)) {
        const { manager, busy } = worlds[who];
        const options = { manager, store, agentId: "bench", namespace: "beside", intervalMs };
        const view = who === beside ? startGlobalView(options) : undefined;
        const ns = await busy(sliceMs);
        await view?.close();
        if (round >= 0) times[who].push(ns);
      }
    }
    const row = (what: keyof typeof times) => ({ what, value: median(times[what]), unit: "ns" });
    const against = (what: keyof typeof times) => ({
      ...row(what),
      against: alone,
      ratio: ratiosOf(times[what], times[alone]),
    });
    const [noise, withSync] = [against(again), against(beside)];
    const limit = Math.max(NO_DIFFERENCE, noise.ratio.high);
    return [
      row(alone),
      noise,
      withSync,
      { ...withSync, wanted: { of: "ratio", direction: "at most", limit } },
    ] satisfies Row[];
  },
};
