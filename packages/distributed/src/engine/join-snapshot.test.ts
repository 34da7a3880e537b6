import { expect, test } from "vitest";
import { step } from "./step.ts";
import { quotaIn, testAgent, WINDOW_MS, word } from "./test-agents.ts";
import { SNAPSHOT_BINS } from "./usage-window.ts";

const BIN_MS = WINDOW_MS / SNAPSHOT_BINS;

/** A snapshot of usage that was sent this long ago. */
function seenAt(ageMs: number, amount: number): number[][] {
  return Array.from({ length: SNAPSHOT_BINS }, (_, b) => [b === Math.floor(ageMs / BIN_MS) ? amount : 0]);
}

/** An agent that joins, and receives these messages at these times. */
function joined(messages: readonly [number, ReturnType<typeof word>][]) {
  const agent = testAgent("a", {}, {}, 0);
  for (const [now, message] of messages) step(agent, { type: "receive", message }, now);
  step(agent, { type: "receive", message: word("a", 1) }, 1_200);
  for (let now = 1_250; now <= 1_400; now += 50) step(agent, { type: "wake" }, now);
  return agent;
}

test("usage of departed agents expires at most one bin late", () => {
  const agent = joined([[100, word("b", 1, {}, { joinSnapshot: seenAt(40_000, 300) })]]);
  const { swarm } = quotaIn(agent).usage;
  expect(swarm.sum).toEqual([300]);
  const goneAt = swarm.goneAt([300]);
  expect(goneAt).toBeGreaterThan(20_000);
  expect(goneAt).toBeLessThanOrEqual(20_100 + BIN_MS + 0.01 * WINDOW_MS + 100);
});

test("usage that peers report after the snapshot does not make up for usage that only the snapshot contains", () => {
  const agent = joined([
    [100, word("b", 1, {}, { joinSnapshot: seenAt(40_000, 300) })],
    [900, word("b", 2, {}, { spentTotal: [50], used: [50], bins: [[50]] })],
  ]);
  expect(quotaIn(agent).usage.swarm.sum).toEqual([350]);
});

test("the snapshot of the oldest peer counts, because it has passed through the fewest agents", () => {
  const ofOldest = word("b", 1, { upMs: 30_000 }, { joinSnapshot: seenAt(40_000, 300) });
  const ofYoungest = word("c", 1, { upMs: 3_000 }, { joinSnapshot: seenAt(10_000, 300) });
  for (const messages of [
    [ofOldest, ofYoungest],
    [ofYoungest, ofOldest],
  ]) {
    const agent = joined(messages.map((message, i) => [100 + i, message]));
    expect(quotaIn(agent).usage.swarm.goneAt([300])).toBeLessThan(23_000);
  }
});
