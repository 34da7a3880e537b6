import assert from "node:assert/strict";
import type { Case, CaseResult } from "@hivepace/verify";
import {
  calling,
  fastestOf,
  hearing,
  heartbeatBytes,
  microsecondsOf,
  queueing,
  reading,
  routing,
  type Situation,
  Waiters,
} from "../support/flat-costs.ts";

/**
 * Costs follow what changes and not what exists. Each case compares a small and a large situation in one process, each by
 * the fastest of several runs that alternate, so that a busy machine affects both sides alike.
 */
const ROUNDS = 8;

export const cases: readonly Case[] = [
  {
    id: "flat-costs/a-call-among-endpoints",
    seconds: 5,
    run: () =>
      compare(
        () => calling(1),
        () => calling(1_000),
        2_000,
        1.5,
      ),
  },
  {
    id: "flat-costs/a-message-heard",
    seconds: 5,
    run: () =>
      compare(
        () => hearing(10),
        () => hearing(1_000),
        300,
        3,
      ),
  },
  {
    id: "flat-costs/a-queued-call-among-agents",
    seconds: 10,
    run: () =>
      compare(
        () => queueing(10),
        () => queueing(1_000),
        100,
        3,
      ),
  },
  {
    id: "flat-costs/status-per-endpoint",
    seconds: 15,
    run: () =>
      compare(
        () => reading(50, 10),
        () => reading(500, 10),
        1,
        20,
      ),
  },
  {
    id: "flat-costs/a-full-route-per-endpoint",
    seconds: 5,
    run: () =>
      compare(
        () => routing(10, true),
        () => routing(100, true),
        20,
        20,
      ),
  },
  {
    id: "flat-costs/a-free-route-per-endpoint",
    seconds: 5,
    run: () =>
      compare(
        () => routing(10, false),
        () => routing(100, false),
        200,
        20,
      ),
  },
  {
    id: "flat-costs/a-heartbeat-of-many-endpoints",
    seconds: 5,
    run: async () => {
      const bytes = await heartbeatBytes(1_000);
      const summary = `${Math.round(bytes)} bytes`;
      assert.ok(bytes <= 40_000, `${summary}; 40,000 are allowed`);
      return { summary, figures: { bytes } };
    },
  },
  ...(["none", "each", "limited"] as const).map((keys) => ({
    id: `flat-costs/waiters-with-keys-${keys}`,
    seconds: 10,
    run: () => compareWaiters(keys),
  })),
];

/** Compares the time of one call in two situations. `most` is the largest ratio. */
async function compare(
  ofSmall: () => Promise<Situation>,
  ofLarge: () => Promise<Situation>,
  batch: number,
  most: number,
): Promise<CaseResult> {
  const [small, large] = [await ofSmall(), await ofLarge()];
  let [smallUs, largeUs] = [Infinity, Infinity];
  for (let round = 0; round < ROUNDS; round++) {
    smallUs = Math.min(smallUs, microsecondsOf(small, batch, 3));
    largeUs = Math.min(largeUs, microsecondsOf(large, batch, 3));
  }
  await Promise.all([small.close(), large.close()]);
  return verdict(smallUs, largeUs, most, "µs");
}

/** Ten times the waiters take ten times the time to join and to abort, and not a hundred times. */
async function compareWaiters(keys: "none" | "each" | "limited"): Promise<CaseResult> {
  const [few, many] = [500, 5_000];
  const small = await Waiters.with(few, keys);
  const large = await Waiters.with(many, keys);
  let [smallMs, largeMs] = [Infinity, Infinity];
  const both = (waiters: Waiters, count: number) =>
    fastestOf(1, () => {
      waiters.join(count);
      waiters.abort();
    });
  for (let round = 0; round < ROUNDS; round++) {
    smallMs = Math.min(smallMs, both(small, few));
    largeMs = Math.min(largeMs, both(large, many));
  }
  await Promise.all([small.close(), large.close()]);
  return verdict(smallMs, largeMs, 25, "ms");
}

function verdict(small: number, large: number, most: number, unit: string): CaseResult {
  const ratio = large / small;
  const summary = `${small.toFixed(1)} and ${large.toFixed(1)} ${unit}, ${ratio.toFixed(1)} times`;
  assert.ok(ratio <= most, `${summary}; ${most} times are allowed`);
  return { summary, figures: { small, large, ratio } };
}
