import type { AllocationRequest, QuotaReply } from "@hivepace/core";
import { AllocatorMemory, allocatorSuite, seededRandom } from "@hivepace/core/testing";
import { Opened } from "@hivepace/redis-client/testing";
import { describeOwnServer } from "@hivepace/servers/vitest";
import { Redis } from "ioredis";
import { afterAll, describe, expect, test } from "vitest";
import { allocationCalls, readAllocationReply } from "../src/allocation.ts";
import { exchange } from "../src/exchange.ts";
import { redisSync } from "../src/index.ts";
import { allocateScript } from "../src/script.ts";
import { ask } from "./helpers.ts";

describeOwnServer("redis", (server) => {
  const opened = new Opened();
  afterAll(opened.close);

  describe("an allocator on Redis", () => allocatorSuite({ test, open: () => redisSync({ url: server().url }) }));

  test.each([1, 2, 3])("the script gives the same answers as the ledger in memory (seed %i)", async (seed) => {
    const client = opened.client(new Redis(server().url));
    const memory = new AllocatorMemory();
    const random = seededRandom(seed);
    const start = 1_900_000_000_000 + random();
    const namespace = `model-${seed}`;
    let now = start;
    const agents = Array.from({ length: 12 }, (_, i) => newAgent(`agent ${i}`));
    for (let step = 0; step < 1_500; step++) {
      // Steps are mostly short; a long pause makes agents fall silent, or expires the whole state.
      now += random() < 0.99 ? random() * 150 : random() * (random() < 0.2 ? 200_000 : 20_000);
      const agent = agents[Math.floor(random() * agents.length)] as ModelAgent;
      const report = nextReport(agent, namespace, random);
      const { calls, slots } = allocationCalls(report, "", String(now));
      const answers = await exchange(client as never, calls, slots, allocateScript);
      const actual = readAllocationReply(answers).quotas;
      const expected = memory.allocate(report, now).quotas;
      for (const [q, quota] of actual.entries()) compare(quota, expected[q] as QuotaReply, `step ${step}`);
      const [quota] = expected;
      if (quota && !quota.error && !quota.isLearning && random() < 0.95) agent.allowed = [...quota.allowed];
      if (quota) agent.stamp = Math.max(agent.stamp, quota.stamp);
    }
  });

  test("the keys of a quota have a time to live", async () => {
    const store = await opened.open(redisSync({ url: server().url }));
    const random = seededRandom(9);
    await store.allocate?.(nextReport(newAgent("a"), "ttl", random));
    const keys = (await ask(server(), "KEYS", "ttl:swarm:*")).split(",");
    expect(keys.length).toBeGreaterThanOrEqual(3);
    for (const key of keys) expect(Number(await ask(server(), "PTTL", key))).toBeGreaterThan(600_000);
  });

  test("a script that Redis has dropped from its cache is sent again", async () => {
    const store = await opened.open(redisSync({ url: server().url }));
    const random = seededRandom(9);
    const agent = newAgent("a");
    await store.allocate?.(nextReport(agent, "flushed", random));
    await ask(server(), "SCRIPT", "FLUSH");
    const reply = await store.allocate?.(nextReport(agent, "flushed", random));
    expect(reply?.quotas[0]?.error).toBeUndefined();
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

/** Generates a random report: usage, refunds, demand, departures, new incarnations and repetitions. */
function nextReport(agent: ModelAgent, namespace: string, random: () => number): AllocationRequest {
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
    levelAtCut: 0.5 + random() / 2,
    pauseCount: 0,
    pauseMs: random() < 0.5 ? 0 : 500,
    tie: Math.floor(random() * 0xffff).toString(16),
    recoveryFactor: 1.1,
    recoveryIntervalMs: 30_000,
    levelMax: 1,
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
    quotas: [
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
        journal: random() < 0.1 ? { isAsking: random() < 0.5 } : undefined,
      },
    ],
  };
}

/** Compares with a tolerance for the rounding of sums of fractions. */
function compare(actual: QuotaReply, expected: QuotaReply, where: string): void {
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
