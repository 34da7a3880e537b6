import type { AllocationReply, QuotaReply } from "@hivepace/core";
import { describe, expect, test } from "vitest";
import { modeOf } from "./modes/mode-of.ts";
import { step } from "./step.ts";
import { quotaIn, testAgent, word } from "./test-agents.ts";
import { TUNING } from "./tuning.ts";

const always = { aggregation: "store", above: 300, below: 200 } as const;

function answerOf(change: Partial<QuotaReply> = {}): QuotaReply {
  return {
    error: undefined,
    stamp: 1,
    isLearning: false,
    members: 5,
    weights: 5,
    limits: [1_000],
    capacity: [990],
    used: [0],
    allowed: [3],
    fair: [198],
    level: undefined,
    isStore: true,
    ...change,
  };
}

const replyOf = (...quotas: QuotaReply[]): AllocationReply => ({ epochMs: 0, quotas: quotas });

/** An agent in store mode that has received this reply to its first request. */
function served(change: Partial<QuotaReply> = {}) {
  const agent = testAgent("a", { store: always });
  const seq = step(agent, { type: "wake" }, 0).ask?.sequence ?? 0;
  step(agent, { type: "store-reply", seq, reply: replyOf(answerOf(change)) }, 5);
  return agent;
}

const take = (agent: ReturnType<typeof served>, now: number) =>
  step(agent, { type: "take", quota: "p", cost: [1] }, now).taken;

describe("an agent in store mode", () => {
  test("calls the store at once and then once a heartbeat, and publishes nothing on the bus", () => {
    const agent = served();
    quotaIn(agent).usage.own.add(5, [1]);
    let calls = 0;
    for (let now = 50; now <= 10_000; now += 50) {
      const { ask, publish } = step(agent, { type: "wake" }, now);
      expect(publish).toBeUndefined();
      if (!ask) continue;
      calls++;
      step(agent, { type: "store-reply", seq: ask.sequence, reply: replyOf(answerOf()) }, now);
    }
    expect(calls).toBe(10);
  });

  test("sends only values that JSON can carry", () => {
    const agent = served();
    for (const now of [1_000, 2_100, 3_200]) {
      const { ask } = step(agent, { type: "wake" }, now);
      expect(ask).toBeDefined();
      expect(JSON.parse(JSON.stringify(ask))).toEqual(ask);
      step(agent, { type: "store-reply", seq: ask?.sequence ?? 0, reply: replyOf(answerOf()) }, now + 5);
    }
  });

  test("sends what was granted, and no more", () => {
    const agent = served();
    expect([1, 2, 3, 4].map((i) => take(agent, 10 + i))).toEqual([true, true, true, false]);
  });

  test("sends nothing before the first grant, nor anything from a store that is learning", () => {
    const agent = testAgent("a", { store: always });
    expect(take(agent, 1)).toBe(false);
    expect(take(served({ isLearning: true }), 10)).toBe(false);
  });

  test("calls the store early once when demand begins", () => {
    const agent = served({ allowed: [0] });
    const want = (now: number) => step(agent, { type: "want", quota: "p", next: [1], all: [1] }, now);
    const first = want(300).ask;
    expect(first?.quotas[0]).toMatchObject({ next: [1], all: [1] });
    step(agent, { type: "store-reply", seq: first?.sequence ?? 0, reply: replyOf(answerOf({ allowed: [0] })) }, 305);
    expect(want(310).ask).toBeUndefined();
    expect(want(900).ask).toBeUndefined();
  });

  test("ignores a late reply", () => {
    const agent = served();
    const late = step(agent, { type: "wake" }, 1_000).ask?.sequence ?? 0;
    step(agent, { type: "store-failure", seq: late }, 1_400);
    const next = step(agent, { type: "wake" }, 1_600).ask?.sequence ?? 0;
    expect(next).toBeGreaterThan(late);
    step(agent, { type: "store-reply", seq: late, reply: replyOf(answerOf({ allowed: [900] })) }, 1_700);
    expect(quotaIn(agent).allocation.grant?.allowed).toEqual([3]);
  });

  test("continues with its last fair share when the store does not answer", () => {
    const agent = served();
    for (let now = 50; now <= 4_000; now += 50) {
      const { ask } = step(agent, { type: "wake" }, now);
      if (ask) step(agent, { type: "store-failure", seq: ask.sequence }, now);
    }
    expect(modeOf(agent, quotaIn(agent), 4_000).name).toBe("isolated");
    expect(quotaIn(agent).isolation.budget).toMatchObject({ isAgreed: true, from: [3], to: [198] });
    expect(take(agent, 4_000)).toBe(true);
  });

  test("does not use a grant from before a suspension of its process", () => {
    const agent = served();
    expect(take(agent, 60_000)).toBe(false);
  });

  test("reports its totals to a store that has lost its memory, and returns its grant", () => {
    const agent = served();
    const seq = step(agent, { type: "wake" }, 1_000).ask?.sequence ?? 0;
    step(agent, { type: "store-reply", seq, reply: replyOf(answerOf({ isLearning: true, allowed: [0] })) }, 1_005);
    expect(modeOf(agent, quotaIn(agent), 1_005).name).toBe("isolated");
    expect(step(agent, { type: "wake" }, 2_000).ask?.quotas[0]?.allowed).toEqual([0]);
  });

  test("publishes urgent news on the bus", () => {
    const agent = served();
    const refused = { sentAt: 50, reason: "429" };
    const { ask, wakeAt } = step(agent, { type: "refused", quota: "p", refused }, 100);
    expect(step(agent, { type: "wake" }, wakeAt).publish).toMatchObject({
      store: true,
      quotas: [{ level: { levelAtCut: 0.5 } }],
    });
    expect(wakeAt - 100).toBeLessThan(TUNING.gapMs);
    expect(ask?.quotas[0]?.level).toMatchObject({ epoch: 1, levelAtCut: 0.5, cutAgoMs: 0 });
  });
});

describe("automatic", () => {
  const auto = { aggregation: "auto", above: 3, below: 2 } as const;
  const journal = answerOf({ bins: [] });
  const roll = (isStore: boolean) => answerOf({ limits: [], capacity: [], used: [], allowed: [], fair: [], isStore });

  test("an agent on the bus answers a roll-call, and changes to the mode of the reply", () => {
    const agent = testAgent("a", { store: auto });
    const first = step(agent, { type: "wake" }, 0).ask;
    const crowd = { isStore: false, above: 3, below: 2 };
    expect(first?.quotas).toMatchObject([{ journal: { isAsking: true } }, { limits: [], crowd }]);
    step(agent, { type: "store-reply", seq: first?.sequence ?? 0, reply: replyOf(journal, roll(false)) }, 5);
    expect(agent.store?.isStore).toBe(false);
    const next = step(agent, { type: "wake" }, 1_000).ask;
    const { ask } = step(agent, { type: "store-reply", seq: next?.sequence ?? 0, reply: replyOf(roll(true)) }, 1_005);
    expect(agent.store?.isStore).toBe(true);
    expect(ask?.quotas.map(({ name }) => name)).toEqual(["p", "all"]);
  });

  test("an agent on the bus reports usage that has changed, and learns that of departed agents before it sends", () => {
    const agent = testAgent("a", { store: auto });
    const asked: (readonly { readonly name: string }[])[] = [];
    const run = (until: number, reply = journal) => {
      for (let now = agent.steppedAt; now <= until; now += 50) {
        const { ask, publish } = step(agent, { type: "wake" }, now);
        if (publish) step(agent, { type: "receive", message: publish }, now);
        if (!ask) continue;
        asked.push(ask.quotas);
        const quotas = ask.quotas.map(({ crowd }) => (crowd ? roll(false) : reply));
        step(agent, { type: "store-reply", seq: ask.sequence, reply: replyOf(...quotas) }, now);
      }
    };
    run(2_000, { ...journal, bins: [[0], [300], [40]] });
    expect(quotaIn(agent).usage.swarm.sum).toEqual([340]);
    expect(asked.map(({ length }) => length)).toEqual([2, 1, 1]);
    expect(take(agent, 2_000)).toBe(true);
    run(5_000);
    expect(asked.slice(3).map(({ length }) => length)).toEqual([2, 1, 1]);
    const used = { sent: [1], allowed: [1], all: [0], journal: { isAsking: false } };
    expect(asked[3]).toMatchObject([{ name: "p (journal)", ...used }, { name: "all" }]);
  });

  test("a report of usage that was not answered is repeated", () => {
    const agent = testAgent("a", { store: auto });
    for (const now of [0, 600, 1_200]) {
      const ask = step(agent, { type: "wake" }, now).ask;
      expect(ask?.quotas).toMatchObject([{ journal: { isAsking: true } }, { name: "all" }]);
      step(agent, { type: "store-failure", seq: ask?.sequence ?? 0 }, now + 10);
    }
  });

  /** An agent that has just moved from the bus to the store and holds a grant. */
  function moved() {
    const agent = testAgent("a", { store: auto });
    const answer = (seq: number | undefined, now: number, ...quotas: QuotaReply[]) =>
      step(agent, { type: "store-reply", seq: seq ?? 0, reply: replyOf(...quotas) }, now).ask;
    const told = answer(step(agent, { type: "wake" }, 0).ask?.sequence, 400, journal, roll(true));
    answer(told?.sequence, 405, answerOf(), roll(true));
    return { agent, answer };
  }

  test("the store does not know usage reported on the bus meanwhile, so the agent calls it", () => {
    const { agent } = moved();
    expect(take(agent, 450)).toBe(true);
    expect(step(agent, { type: "want", quota: "p", next: [1], all: [5] }, 900).ask).toBeUndefined();
    const { publish, ask } = step(agent, { type: "wake" }, 1_000);
    expect(publish?.quotas).toMatchObject([{ demand: [5] }]);
    expect(ask).toBeUndefined();
    for (const now of [1_010, 1_020]) expect(take(agent, now)).toBe(true);
    expect(step(agent, { type: "want", quota: "p", next: [1], all: [3] }, 1_030).ask).toBeDefined();
  });

  test("after the return to the bus, waits reported there earlier are outdated", () => {
    const { agent, answer } = moved();
    quotaIn(agent).reporting.confirmedDemand = [50];
    const seq = step(agent, { type: "wake" }, 1_500).ask?.sequence;
    answer(seq, 1_505, answerOf(), roll(false));
    expect(agent.store?.isStore).toBe(false);
    expect(quotaIn(agent).reporting.confirmedDemand).toEqual([0]);
  });

  test("a store that is learning changes no agent's mode", () => {
    const agent = testAgent("a", { store: auto });
    const seq = step(agent, { type: "wake" }, 0).ask?.sequence ?? 0;
    step(agent, { type: "store-reply", seq, reply: replyOf(journal, { ...roll(true), isLearning: true }) }, 5);
    expect(agent.store?.isStore).toBe(false);
  });

  test("an agent whose peers are in store mode and that cannot reach the store keeps a part", () => {
    const agent = testAgent("a", { store: auto });
    for (let now = 0; now <= 5_000; now += 50) {
      const { ask, publish } = step(agent, { type: "wake" }, now);
      if (ask) step(agent, { type: "store-failure", seq: ask.sequence }, now);
      if (publish) step(agent, { type: "receive", message: publish }, now);
    }
    step(agent, { type: "receive", message: word("b", 1, { store: true, members: 10 }) }, 5_000);
    step(agent, { type: "wake" }, 5_050);
    expect(modeOf(agent, quotaIn(agent), 5_050).name).toBe("isolated");
    expect(quotaIn(agent).isolation.budget?.to).toEqual([100]);
  });
});
