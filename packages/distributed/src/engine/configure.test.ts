import { describe, expect, test } from "vitest";
import { configure } from "./configure.ts";
import { dimensionsOf } from "./dimensions.ts";
import type { Message } from "./message.ts";
import type { PoolConfig } from "./pool.ts";
import { step } from "./step.ts";
import { poolIn, testAgent, testSwarm, WINDOW_MS, word } from "./test-agents.ts";

const change = (agent: Parameters<typeof step>[0], config: Partial<PoolConfig>, now: number): void => {
  step(agent, { type: "configure", config: { ...poolIn(agent).config, ...config }, isLate: false }, now);
};
/** The next message that an agent publishes. */
const nextWord = (agent: Parameters<typeof step>[0], now: number): Message => {
  const said = step(agent, { type: "wake" }, now).publish;
  if (!said) throw new Error("nothing is said");
  return said;
};

describe("a quota with other dimensions", () => {
  const [r, t, i] = ["requests", "tokens", "input_tokens"];
  const two = { limits: [100, 1_000], dimensions: [r, t] as string[] };
  const three = { limits: [100, 1_000, 500], dimensions: [r, t, i] as string[] };

  test("counts on for the dimensions that stay, also when their order is another", () => {
    const agent = testAgent("a", { hasBus: false }, two);
    step(agent, { type: "take", pool: "p", cost: [1, 50] }, 10);
    step(agent, { type: "settle", pool: "p", more: [0, -20], sentAt: 10 }, 20);
    change(agent, { limits: [500, 1_000, 100], dimensions: [i, t, r] as string[] }, 30);
    const pool = poolIn(agent);
    expect(pool.used.sum).toEqual([0, 30, 1]);
    expect([pool.sent, pool.back]).toEqual([
      [0, 50, 1],
      [0, 20, 0],
    ]);
    step(agent, { type: "wake" }, 10 + 2 * WINDOW_MS);
    expect(pool.used.sum).toEqual([0, 0, 0]);
  });

  test("is settled in the dimensions that a call was taken of", () => {
    const agent = testAgent("a", { hasBus: false }, two);
    step(agent, { type: "take", pool: "p", cost: [1, 50] }, 10);
    change(agent, three, 10);
    step(agent, { type: "take", pool: "p", cost: [1, 50, 40] }, 20);
    const event = { type: "settle", pool: "p", sentAt: 10 } as const;
    step(agent, { ...event, more: [0, -20], dimensions: two.dimensions }, 30);
    expect(poolIn(agent).used.sum).toEqual([2, 80, 40]);
  });

  test("gives nothing back that was not counted of a dimension that was away meanwhile", () => {
    const agent = testAgent("a", { hasBus: false }, three);
    step(agent, { type: "take", pool: "p", cost: [1, 50, 40] }, 10);
    change(agent, two, 20);
    change(agent, three, 30);
    step(agent, { type: "settle", pool: "p", more: [0, -50, -40], sentAt: 10, dimensions: three.dimensions }, 40);
    const pool = poolIn(agent);
    expect(pool.used.sum).toEqual([1, 0, 0]);
    expect([pool.sent, pool.back]).toEqual([
      [1, 50, 40],
      [0, 50, 0],
    ]);
  });

  test("knows what peers have said of a dimension that is new to this agent", () => {
    const agent = testAgent("a", {}, two);
    const amounts = { limits: [100, 1_000, 500], sent: [1, 50, 40], back: [0, 0, 0], used: [1, 50, 40] };
    const said = { ...amounts, dimensions: three.dimensions, bins: [[1, 50, 40]], waiting: [0, 0, 0] };
    step(agent, { type: "hear", message: word("b", 1, {}, said) }, 1_000);
    expect(poolIn(agent).used.sum).toEqual([1, 50]);
    change(agent, three, 1_100);
    expect(poolIn(agent).used.sum).toEqual([1, 50, 40]);
    const more = { sent: [2, 60, 45], used: [2, 60, 45], bins: [[2, 60, 45]] };
    step(agent, { type: "hear", message: word("b", 2, {}, { ...said, ...more }) }, 1_200);
    expect(poolIn(agent).used.sum).toEqual([2, 60, 45]);
  });

  test("that has none in common with a peer's has nothing to do with it", () => {
    const agent = testAgent("a", {}, { limits: [100], dimensions: [t as string] });
    step(agent, { type: "hear", message: word("b", 1, {}, { limits: [5], sent: [3] }) }, 1_000);
    expect(poolIn(agent).used.sum).toEqual([0]);
    expect(poolIn(agent).limits).toEqual([100]);
    expect(Object.fromEntries(agent.ignored)).toEqual({ "other limits": 1 });
  });
});

test("an agent that keeps a part keeps no more than that part of a smaller limit", () => {
  const swarm = testSwarm(4);
  const [agent] = swarm.agents as [ReturnType<typeof testAgent>];
  for (const other of swarm.agents) if (other !== agent) swarm.gone.add(other);
  swarm.deaf.add(agent);
  swarm.pass(10_000);
  const kept = poolIn(agent).kept?.to[0] ?? 0;
  expect(kept).toBeGreaterThan(200);
  change(agent, { limits: [100] }, swarm.now);
  expect(poolIn(agent).kept?.to[0]).toBeCloseTo(kept / 10, 9);
});

test("a quota that is gone and comes back knows no claim of a peer from before", () => {
  const agent = testAgent("a");
  const claim = { amounts: [90], next: [90], turn: 1, tie: 1, waitedMs: 0 };
  step(agent, { type: "hear", message: word("b", 1, {}, { claim }) }, 1_000);
  const { config } = poolIn(agent);
  agent.pools.delete("p");
  configure(agent, config, true, 200_000);
  step(agent, { type: "hear", message: word("b", 2) }, 200_100);
  expect(poolIn(agent).claimed).toEqual([0]);
  expect(dimensionsOf(poolIn(agent).config)).toEqual(["requests"]);
});

test("an agent says how long it has had a quota that came later than itself, and is told of that one alone", () => {
  const agent = testAgent("a");
  for (let now = 0; now < 20_000; now += 500) step(agent, { type: "wake" }, now);
  const config = { ...poolIn(agent).config, name: "q" };
  step(agent, { type: "configure", config, isLate: true }, 20_000);
  const said = nextWord(agent, 20_100);
  expect(said.upMs).toBe(20_100);
  expect(said.pools.map(({ name, upMs }) => [name, upMs])).toContainEqual(["q", 100]);
  const peer = testAgent("b", {}, {}, 0);
  peer.pools.set("q", { ...testAgent("b", {}, { name: "q" }).pools.get("p") } as never);
  for (let now = 0; now < 20_100; now += 500) step(peer, { type: "wake" }, now);
  for (const pool of peer.pools.values()) pool.used.add(20_050, [10]);
  step(peer, { type: "hear", message: said }, 20_150);
  expect([...peer.pools.values()].map(({ welcomeUntil }) => welcomeUntil > 20_150)).toEqual([false, true]);
});
