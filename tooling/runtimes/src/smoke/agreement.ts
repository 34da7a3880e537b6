import assert from "node:assert/strict";
import { createHive, type Hive, type HiveOptions } from "@hivepace/distributed";
import { until } from "./until.ts";

const LIMIT = 40;
/** Part of the limit is kept as a safety margin. */
const MOSTLY = 0.9 * LIMIT;

/**
 * Checks that two members of one hive, each with its own connections from `open`, share one limit. Returns a line with
 * the granted amounts.
 */
export async function twoMembersAgree(open: () => Omit<HiveOptions, "endpoints">): Promise<string> {
  const options = {
    namespace: `smoke-${crypto.randomUUID()}`,
    endpoints: [{ id: "api", rpmLimit: LIMIT }],
    // No usage leaves the window in the middle of the step.
    windowMs: 600_000,
    heartbeatIntervalMs: 200,
  };
  const first = await createHive({ ...options, ...open(), agentId: "first" });
  const second = await createHive({ ...options, ...open(), agentId: "second" });
  try {
    const members = [first, second];
    await until(() => members.every((hive) => hive.status().members === 2), "both members know of each other");

    const granted = [0, 0] as [number, number];
    const sum = (): number => granted[0] + granted[1];
    const bothAsk = (): void => {
      if (takes(first)) granted[0]++;
      if (takes(second)) granted[1]++;
    };
    await until(() => {
      bothAsk();
      return sum() >= MOSTLY;
    }, `the two are granted most of ${LIMIT} requests`);
    // A store reports grants, which may be more than usage.
    await until(() => members.every((hive) => usage(hive) >= sum()), "both members know of all that was used");

    // Both ask for the rest, far more often than it can be granted.
    for (let i = 0; i < LIMIT; i++) bothAsk();
    assert.ok(sum() <= LIMIT, `${sum()} of ${LIMIT} requests were granted`);
    assert.ok(Math.min(...granted) > 0, "one of the members was granted nothing");

    first.announceReduced("api", "the smoke program says so");
    await until(() => second.explain("api").level < 1, "the second member slows down with the first");
    return `granted ${granted.join(" and ")} of ${LIMIT}, both slow down together`;
  } finally {
    await Promise.all([first.close(), second.close()]);
  }
}

function takes(hive: Hive): boolean {
  const { lease } = hive.tryAcquire({ endpoint: "api" });
  lease?.done();
  return lease !== undefined;
}

function usage(hive: Hive): number {
  return hive.explain("api").limits.find(({ dimension }) => dimension === "requests")?.used ?? 0;
}
