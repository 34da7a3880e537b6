import fc from "fast-check";
import { expect, test } from "vitest";
import { agreement, ownShare } from "./agreement.ts";
import { capacityOf } from "./capacity.ts";
import { budgetAfter } from "./isolation-budget.ts";
import { step } from "./step.ts";
import { quotaIn, testAgent, WINDOW_MS, word } from "./test-agents.ts";

const peers = fc.array(
  fc.record({
    used: fc.integer({ min: 0, max: 400 }),
    waiting: fc.integer({ min: 0, max: 2_000 }),
    claim: fc.integer({ min: 0, max: 300 }),
    weight: fc.integer({ min: 1, max: 4 }),
  }),
  { minLength: 1, maxLength: 8 },
);

/** An agent that has received these reports, `apartMs` apart. */
function knowing(all: readonly { used: number; waiting: number; claim: number; weight: number }[], apartMs = 0) {
  const agent = testAgent();
  all.forEach(({ used, waiting, claim, weight }, i) => {
    const claimed = claim > 0 ? { amounts: [claim], next: [claim], virtualTime: i, tie: i, waitedMs: 0 } : undefined;
    const message = word(`b${i}`, 1, { weight }, { spentTotal: [used], demand: [waiting], claim: claimed });
    step(agent, { type: "receive", message }, 1_000 + i * apartMs);
  });
  return agent;
}

test("for any usage, claims and demand, the budgets fit into the capacity, now and a window later", () => {
  fc.assert(
    fc.property(peers, fc.integer({ min: 0, max: 2 * WINDOW_MS }), (all, silentMs) => {
      const agent = knowing(all);
      const quota = quotaIn(agent);
      const shares = [...agreement(agent, quota, 1_000).values()];
      const sum = shares.reduce((total, ends) => total + (budgetAfter(ends, silentMs, WINDOW_MS)[0] as number), 0);
      const most = Math.max(capacityOf(agent, quota, 1_000)[0] as number, quota.usage.swarm.sum[0] as number);
      expect(sum).toBeLessThanOrEqual(most + 1e-6);
      for (const { from, to } of shares) expect(Math.min(...from, ...to)).toBeGreaterThanOrEqual(0);
    }),
  );
});

test("the budgets of agents that fall silent one after the other fit into the capacity a window later", () => {
  fc.assert(
    fc.property(peers, fc.integer({ min: 0, max: 700 }), (all, apartMs) => {
      const agent = knowing(all, apartMs);
      for (let now = 6_000; now < 13_000; now += 100) {
        const { publish } = step(agent, { type: "wake" }, now);
        if (publish) step(agent, { type: "receive", message: publish }, now);
      }
      const quota = quotaIn(agent);
      const kept = [...agent.membership.peers.values()].map((peer) => peer.quotas.get("p")?.heldBudget?.to[0]);
      expect(kept).not.toContain(undefined);
      const own = agreement(agent, quota, 13_000).get(undefined)?.to[0];
      const sum = [own, ...kept].reduce<number>((total, amount) => total + (amount ?? Number.NaN), 0);
      expect(sum).toBeCloseTo(capacityOf(agent, quota, 13_000)[0] as number, 6);
    }),
  );
});

test("an agent counts nothing as its own of the capacity that became free since it last received a message", () => {
  const agent = knowing([{ used: 0, waiting: 0, claim: 0, weight: 1 }]);
  const own = (since: number) => agreement(agent, quotaIn(agent), 7_000, since).get(undefined)?.from;
  expect(own(7_000)).toEqual([495]);
  expect(own(1_000)).toEqual([445.5]);
});

test("an agent's own share is its part of the agreement", () => {
  fc.assert(
    fc.property(peers, fc.integer({ min: 0, max: 30_000 }), (all, apartMs) => {
      const agent = knowing(all, apartMs);
      const now = agent.steppedAt + 1;
      const [share] = ownShare(agent, quotaIn(agent), now);
      const [to] = agreement(agent, quotaIn(agent), now).get(undefined)?.to ?? [];
      expect(share).toBeCloseTo(to as number, 6);
    }),
  );
});
