import type { ShareAnswer, ShareReport } from "@hivepace/core";
import { ShareMemory, seededRandom, shareStoreSuite } from "@hivepace/core/testing";
import { describeOwnServer } from "@hivepace/servers/vitest";
import { Redis } from "ioredis";
import { afterAll, describe, expect, test } from "vitest";
import { exchange } from "../src/exchange.ts";
import { redisSync } from "../src/index.ts";
import { readShares, shareCalls } from "../src/share-exchange.ts";
import { shareScript } from "../src/share-script.ts";
import { ask, Opened } from "./helpers.ts";

describeOwnServer("redis", (server) => {
  const opened = new Opened();
  afterAll(opened.close);

  describe("a store that hands out limits", () =>
    shareStoreSuite({ test, open: () => redisSync({ url: server().url }) }));

  test.each([1, 2, 3])("the script answers as the ledger in memory does, to the digit (seed %i)", async (seed) => {
    const client = opened.client(new Redis(server().url));
    const memory = new ShareMemory();
    const random = seededRandom(seed);
    const start = 1_900_000_000_000 + random();
    const namespace = `model-${seed}`;
    let now = start;
    const agents = Array.from({ length: 12 }, (_, i) => newAgent(`agent ${i}`));
    for (let step = 0; step < 1_500; step++) {
      // Mostly soon after each other, now and then after a pause in which agents fall silent or all is forgotten.
      now += random() < 0.99 ? random() * 150 : random() * (random() < 0.2 ? 200_000 : 20_000);
      const agent = agents[Math.floor(random() * agents.length)] as ModelAgent;
      const report = nextReport(agent, namespace, random);
      const { calls, slots } = shareCalls(report, "", String(now));
      const answers = await exchange(client as never, calls, slots, shareScript);
      const actual = readShares(answers).pools;
      const expected = memory.share(report, now).pools;
      for (const [p, pool] of actual.entries()) compare(pool, expected[p] as ShareAnswer, `step ${step}`);
      const [pool] = expected;
      if (pool && !pool.error && !pool.isLearning && random() < 0.95) agent.allowed = [...pool.allowed];
      if (pool) agent.stamp = Math.max(agent.stamp, pool.stamp);
    }
  });

  test("what is kept of a pool has a time to live", async () => {
    const store = await opened.store(redisSync({ url: server().url }));
    const random = seededRandom(9);
    await store.share?.(nextReport(newAgent("a"), "ttl", random));
    const keys = (await ask(server(), "KEYS", "ttl:swarm:*")).split(",");
    expect(keys.length).toBeGreaterThanOrEqual(3);
    for (const key of keys) expect(Number(await ask(server(), "PTTL", key))).toBeGreaterThan(600_000);
  });

  test("a script that Redis has forgotten is brought along again", async () => {
    const store = await opened.store(redisSync({ url: server().url }));
    const random = seededRandom(9);
    const agent = newAgent("a");
    await store.share?.(nextReport(agent, "flushed", random));
    await ask(server(), "SCRIPT", "FLUSH");
    const reply = await store.share?.(nextReport(agent, "flushed", random));
    expect(reply?.pools[0]?.error).toBeUndefined();
  });
});

interface ModelAgent {
  readonly id: string;
  life: number;
  sequence: number;
  stamp: number;
  sent: number[];
  back: number[];
  allowed: number[];
}

function newAgent(id: string): ModelAgent {
  return { id, life: 1, sequence: 0, stamp: 0, sent: [0, 0], back: [0, 0], allowed: [0, 0] };
}

/** What an agent might say: uses, gives back, wants, leaves, comes again, repeats itself. */
function nextReport(agent: ModelAgent, namespace: string, random: () => number): ShareReport {
  if (random() < 0.01) Object.assign(agent, newAgent(agent.id), { life: agent.life + 1 });
  const left = agent.allowed.map((amount, i) => Math.max(0, amount - (agent.sent[i] ?? 0)));
  const part = random() < 0.5 ? 0 : random();
  agent.sent = agent.sent.map((amount, i) => amount + Math.floor((left[i] ?? 0) * part));
  if (random() < 0.02) agent.sent = agent.sent.map((amount) => amount + 1);
  if (random() < 0.1) agent.back = agent.back.map((amount, i) => Math.min(agent.sent[i] ?? 0, amount + random()));
  const calls = random() < 0.4 ? 0 : Math.ceil(random() * 8);
  const next = calls > 0 ? [1, Math.ceil(random() * 300)] : [0, 0];
  const level = {
    epoch: Math.floor(random() * 3),
    base: 0.5 + random() / 2,
    round: 0,
    pauseMs: random() < 0.5 ? 0 : 500,
    tie: Math.floor(random() * 0xffff).toString(16),
    recoveryFactor: 1.1,
    recoveryIntervalMs: 30_000,
    most: 1,
    cutAgoMs: random() * 10_000,
    pausedAgoMs: random() * 1_000,
    origin: "ü 日本",
    reason: "429",
  };
  return {
    namespace,
    agentId: agent.id,
    life: agent.life,
    sequence: random() < 0.02 ? agent.sequence : ++agent.sequence,
    weight: 1 + Math.floor(random() * 2),
    heartbeatMs: 1_000,
    nextMs: random() < 0.9 ? 1_000 : 5_000,
    bye: random() < 0.005,
    pools: [
      {
        name: "model",
        windowMs: 60_000,
        limits: random() < 0.02 ? [80, 9_000] : [100, 10_000],
        headroom: 0.01,
        least: 0.01,
        stamp: random() < 0.002 ? agent.stamp + 1e6 : agent.stamp,
        sent: agent.sent,
        back: agent.back,
        sentAgoMs: random() * 2_000,
        backAgoMs: random() * 3_000,
        allowed: agent.allowed,
        bins: [agent.sent.map((amount) => Math.min(amount, 3)), [1, 50 * random()]],
        next,
        all: next.map((amount) => amount * calls),
        level: random() < 0.01 ? level : undefined,
        crowd: { isStore: random() < 0.01, above: 8, below: 5 },
      },
    ],
  };
}

/** As exact as sums of fractions can be. */
function compare(actual: ShareAnswer, expected: ShareAnswer, where: string): void {
  const flat = (value: unknown): unknown[] =>
    value !== null && typeof value === "object"
      ? Object.keys(value)
          .sort()
          .flatMap((key) => flat((value as Record<string, unknown>)[key]))
      : [value];
  if (expected.error) {
    expect(actual.error, where).toBe(expected.error);
    return;
  }
  const [a, e] = [flat(actual), flat(expected)];
  expect(a.length, where).toBe(e.length);
  a.forEach((one, i) => {
    if (typeof one === "number")
      expect(
        Math.abs(one - (e[i] as number)),
        `${where}: ${JSON.stringify(actual)} ${JSON.stringify(expected)}`,
      ).toBeLessThan(1e-4 * Math.max(1, Math.abs(one)));
    else expect(one, where).toBe(e[i]);
  });
}
