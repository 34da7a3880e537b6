import { describe, expect, test } from "vitest";
import { dimensionsOf } from "./dimensions.ts";
import type { Message, QuotaReport } from "./message.ts";
import type { QuotaConfig } from "./quota.ts";
import { step } from "./step.ts";
import { quotaIn, testAgent, testSwarm, WINDOW_MS, word } from "./test-agents.ts";

const change = (agent: Parameters<typeof step>[0], config: Partial<QuotaConfig>, now: number): void => {
  step(agent, { type: "configure", config: { ...quotaIn(agent).config, ...config } }, now);
};
describe("a quota with other dimensions", () => {
  const [r, t, i] = ["requests", "tokens", "input_tokens"];
  const two = { limits: [100, 1_000], dimensions: [r, t] as string[] };
  const three = { limits: [100, 1_000, 500], dimensions: [r, t, i] as string[] };

  test("keeps the usage of the dimensions that stay, also in another order", () => {
    const agent = testAgent("a", { hasBus: false }, two);
    step(agent, { type: "take", quota: "p", cost: [1, 50] }, 10);
    step(agent, { type: "settle", quota: "p", more: [0, -20], sentAt: 10 }, 20);
    change(agent, { limits: [500, 1_000, 100], dimensions: [i, t, r] as string[] }, 30);
    const quota = quotaIn(agent);
    expect(quota.usage.swarm.sum).toEqual([0, 30, 1]);
    expect([quota.usage.spentTotal, quota.usage.refundedTotal]).toEqual([
      [0, 50, 1],
      [0, 20, 0],
    ]);
    step(agent, { type: "wake" }, 10 + 2 * WINDOW_MS);
    expect(quota.usage.swarm.sum).toEqual([0, 0, 0]);
  });

  test("is settled in the dimensions that the call was charged in", () => {
    const agent = testAgent("a", { hasBus: false }, two);
    step(agent, { type: "take", quota: "p", cost: [1, 50] }, 10);
    change(agent, three, 10);
    step(agent, { type: "take", quota: "p", cost: [1, 50, 40] }, 20);
    const event = { type: "settle", quota: "p", sentAt: 10 } as const;
    step(agent, { ...event, more: [0, -20], dimensions: two.dimensions }, 30);
    expect(quotaIn(agent).usage.swarm.sum).toEqual([2, 80, 40]);
  });

  test("refunds nothing that was not counted in a dimension that was removed meanwhile", () => {
    const agent = testAgent("a", { hasBus: false }, three);
    step(agent, { type: "take", quota: "p", cost: [1, 50, 40] }, 10);
    change(agent, two, 20);
    change(agent, three, 30);
    step(agent, { type: "settle", quota: "p", more: [0, -50, -40], sentAt: 10, dimensions: three.dimensions }, 40);
    const quota = quotaIn(agent);
    expect(quota.usage.swarm.sum).toEqual([1, 0, 0]);
    expect([quota.usage.spentTotal, quota.usage.refundedTotal]).toEqual([
      [1, 50, 40],
      [0, 50, 0],
    ]);
  });

  test("knows the reports of peers on a dimension that is new to this agent", () => {
    const agent = testAgent("a", {}, two);
    const amounts = { limits: [100, 1_000, 500], spentTotal: [1, 50, 40], refundedTotal: [0, 0, 0], used: [1, 50, 40] };
    const said = { ...amounts, dimensions: three.dimensions, bins: [[1, 50, 40]], demand: [0, 0, 0] };
    step(agent, { type: "receive", message: word("b", 1, {}, said) }, 1_000);
    expect(quotaIn(agent).usage.swarm.sum).toEqual([1, 50]);
    change(agent, three, 1_100);
    expect(quotaIn(agent).usage.swarm.sum).toEqual([1, 50, 40]);
    const more = { spentTotal: [2, 60, 45], used: [2, 60, 45], bins: [[2, 60, 45]] };
    step(agent, { type: "receive", message: word("b", 2, {}, { ...said, ...more }) }, 1_200);
    expect(quotaIn(agent).usage.swarm.sum).toEqual([2, 60, 45]);
  });

  test("is unrelated to a peer's quota without a common dimension", () => {
    const agent = testAgent("a", {}, { limits: [100], dimensions: [t as string] });
    step(agent, { type: "receive", message: word("b", 1, {}, { limits: [5], spentTotal: [3] }) }, 1_000);
    expect(quotaIn(agent).usage.swarm.sum).toEqual([0]);
    expect(quotaIn(agent).limits).toEqual([100]);
    expect(Object.fromEntries(agent.ignored)).toEqual({ "other limits": 1 });
  });
});

test("the budget of an isolated agent shrinks with the limit", () => {
  const swarm = testSwarm(4);
  const [agent] = swarm.agents as [ReturnType<typeof testAgent>];
  for (const other of swarm.agents) if (other !== agent) swarm.gone.add(other);
  swarm.unreachable.add(agent);
  swarm.pass(10_000);
  const kept = quotaIn(agent).isolation.budget?.to[0] ?? 0;
  expect(kept).toBeGreaterThan(200);
  change(agent, { limits: [100] }, swarm.now);
  expect(quotaIn(agent).isolation.budget?.to[0]).toBeCloseTo(kept / 10, 9);
});

test("a quota that is removed and added again knows no earlier claim of a peer", () => {
  const agent = testAgent("a");
  const claim = { amounts: [90], next: [90], virtualTime: 1, tie: 1, waitedMs: 0 };
  step(agent, { type: "receive", message: word("b", 1, {}, { claim }) }, 1_000);
  const { config } = quotaIn(agent);
  step(agent, { type: "remove", quota: "p" }, 1_000);
  expect(agent.quotas.size).toBe(0);
  step(agent, { type: "configure", config }, 30_000);
  expect(quotaIn(agent).claims.sum).toEqual([0]);
  expect(dimensionsOf(quotaIn(agent).config)).toEqual(["requests"]);
});

describe("a quota that this agent configures later than its peers", () => {
  const late = (now: number, windowMs = WINDOW_MS) => ({
    type: "configure" as const,
    config: { ...quotaIn(testAgent("x")).config, name: "q", windowMs },
    now,
  });
  const heardOf = (said: Partial<QuotaReport>, now = 1_000, more: Partial<Message> = {}) => {
    const agent = testAgent("a");
    const message = word(
      "b",
      1,
      { upMs: 500_000, ...more },
      { name: "q", spentTotal: [40], used: [40], bins: [[40]], ...said },
    );
    step(agent, { type: "receive", message }, now);
    return agent;
  };

  test("starts with the usage that peers have reported", () => {
    const agent = heardOf({});
    step(agent, late(5_000), 5_000);
    expect(agent.quotas.get("q")?.usage.swarm.sum).toEqual([40]);
    expect(agent.ignored.size).toBe(0);
  });

  test("counts only later usage when those peers report again", () => {
    const agent = heardOf({});
    step(agent, late(5_000), 5_000);
    const more = word("b", 2, { upMs: 504_500 }, { name: "q", spentTotal: [45], used: [45], bins: [[45]] });
    step(agent, { type: "receive", message: more }, 5_500);
    expect(agent.quotas.get("q")?.usage.swarm.sum).toEqual([45]);
  });

  test("knows the claim, the limit and the level of a peer", () => {
    const claim = { amounts: [30], next: [30], virtualTime: 1, tie: 1, waitedMs: 0 };
    const agent = heardOf({ claim, limits: [60] });
    step(agent, late(1_100), 1_100);
    expect(agent.quotas.get("q")?.claims.sum).toEqual([30]);
    expect(agent.quotas.get("q")?.limits).toEqual([60]);
  });

  test("knows the usage of departed agents that a peer has seen", () => {
    const agent = heardOf({ joinSnapshot: [[70]] });
    step(agent, { type: "receive", message: word("b", 2, { upMs: 501_000 }, { name: "q" }) }, 2_000);
    for (let now = 2_000; now < 10_000; now += 500) {
      const said = step(agent, { type: "wake" }, now).publish;
      if (said) step(agent, { type: "receive", message: said }, now + 10);
    }
    step(agent, late(10_000), 10_000);
    step(agent, { type: "wake" }, 10_100);
    expect(agent.quotas.get("q")?.usage.swarm.sum[0]).toBeGreaterThanOrEqual(70);
  });

  test("forgets reports once their usage has left the window", () => {
    const agent = heardOf({});
    expect(agent.membership.rememberedReports).toBe(1);
    for (let now = 1_000; now < 3 * WINDOW_MS; now += 500) step(agent, { type: "wake" }, now);
    expect(agent.membership.rememberedReports).toBe(0);
  });

  test("remembers a bounded number of reports of all peers", () => {
    const agent = testAgent("a");
    step(agent, { type: "receive", message: word("c", 1, {}, { name: "real" }) }, 1_000);
    for (let i = 0; i < 30_000; i++) {
      step(agent, { type: "receive", message: word("b", i + 1, {}, { name: `q${i}` }) }, 1_000);
      expect(agent.membership.rememberedReports).toBeLessThanOrEqual(20_000);
    }
    const known = [...agent.membership.peers.values()].map(
      ({ id, remembered }) => [id, [...remembered.keys()]] as const,
    );
    expect(known[0]).toEqual(["c", ["real"]]);
    expect(known[1]?.[1]).toContain("q29999");
    expect(known.flatMap(([, names]) => names)).toHaveLength(agent.membership.rememberedReports);
  });
});

describe("a removed quota", () => {
  test("is reported until its usage has left the window, then reports of peers are remembered", () => {
    const agent = testAgent("a");
    step(
      agent,
      { type: "receive", message: word("b", 1, { upMs: 500_000 }, { spentTotal: [7], used: [7], bins: [[7]] }) },
      10,
    );
    step(agent, { type: "settle", quota: "p", more: [3], sentAt: 900 }, 900);
    step(agent, { type: "remove", quota: "p" }, 1_000);
    expect(agent.quotas.has("p")).toBe(true);
    let seq = 1;
    for (let now = 1_000; now < 2.5 * WINDOW_MS; now += 500) {
      step(agent, { type: "wake" }, now);
      const message = word("b", ++seq, { upMs: 500_000 + now }, { spentTotal: [7], used: [0], bins: [] });
      step(agent, { type: "receive", message }, now);
    }
    expect(agent.quotas.has("p")).toBe(false);
    expect(agent.removed.size).toBe(0);
    expect(agent.membership.rememberedReports).toBe(1);
  });

  test("stays when it is configured again", () => {
    const agent = testAgent("a");
    const { config } = quotaIn(agent);
    step(agent, { type: "remove", quota: "p" }, 1_000);
    step(agent, { type: "configure", config }, 2_000);
    for (let now = 2_000; now < 4 * WINDOW_MS; now += 500) step(agent, { type: "wake" }, now);
    expect(agent.quotas.has("p")).toBe(true);
  });
});

test("totals that decrease count as usage of a sender that has started again", () => {
  const agent = testAgent("a");
  step(
    agent,
    { type: "receive", message: word("b", 1, { upMs: 500_000 }, { spentTotal: [50], used: [50], bins: [[50]] }) },
    10,
  );
  const again = word("b", 2, { upMs: 501_000 }, { spentTotal: [5], used: [5], bins: [[5]] });
  step(agent, { type: "receive", message: again }, 1_000);
  expect(quotaIn(agent).usage.swarm.sum).toEqual([55]);
});
