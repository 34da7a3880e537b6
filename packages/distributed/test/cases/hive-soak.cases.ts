import assert from "node:assert/strict";
import type { Case } from "@hivepace/verify";
import { busiestMinute, HiveSoak, LIMIT } from "../support/hive-soak.ts";
import { seededIncarnations } from "../support/seeded-incarnations.ts";

/**
 * Hives on a lossy bus and a store, with all kinds of faults: the limit holds, memory stays flat, and nothing is left
 * over.
 */
const HIVES = 5;
const MINUTE = 60_000;
const QUICK_MINUTES = 12;
const HOUR_MINUTES = 60;
const SEEDS = [7, 11, 12, 13, 14, 15];
/**
 * Bound of usage, in limits. Isolated agents continue with the last agreed limit, and a limit that is halved for a
 * while does not take back earlier usage.
 */
const MOST = 1.1;
const MOST_GROWTH_MB = 20;

export const cases: readonly Case[] = [
  { id: "hive-soak/12-minutes/seed-7", seconds: 8, isQuick: true, run: () => soak(7, QUICK_MINUTES) },
  ...SEEDS.map((seed) => ({
    id: `hive-soak/an-hour/seed-${seed}`,
    seconds: 40,
    run: () => soak(seed, HOUR_MINUTES),
  })),
];

async function soak(seed: number, minutes: number) {
  const restore = seededIncarnations();
  try {
    return await run(new HiveSoak(seed), seed, minutes);
  } finally {
    restore();
  }
}

async function run(swarm: HiveSoak, seed: number, minutes: number) {
  for (let i = 0; i < HIVES; i++) await swarm.start();
  const { clock } = swarm.world;
  const startedAt = clock.now();
  let early: number | undefined;
  while (clock.now() < startedAt + minutes * MINUTE) {
    await swarm.trouble();
    if (clock.now() > startedAt + (minutes * MINUTE) / 4) early ??= heapMb();
  }
  assert.ok(swarm.granted > 80 * minutes, `only ${swarm.granted} calls were granted (seed ${seed})`);
  const { requests, tokens } = busiestMinute(swarm.sent);
  const figures = { requests: requests / LIMIT.rpmLimit, tokens: tokens / LIMIT.tpmLimit };
  assert.ok(figures.requests <= MOST, `${figures.requests} of the request limit was used in a minute (seed ${seed})`);
  assert.ok(figures.tokens <= MOST, `${figures.tokens} of the token limit was used in a minute (seed ${seed})`);
  await swarm.end();
  assert.equal(clock.pending, 0, `timers are left after all hives were closed (seed ${seed})`);
  const grownMb = heapMb() - (early ?? 0);
  assert.ok(grownMb < MOST_GROWTH_MB, `the heap has grown by ${grownMb.toFixed(1)} MB (seed ${seed})`);
  return { figures: { ...figures, grownMb } };
}

function heapMb(): number {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed / 1e6;
}
