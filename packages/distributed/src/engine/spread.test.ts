import { expect, test } from "vitest";
import { FULL, levelAt, merge } from "./level.ts";
import { mergedSpread, type Spread, spreadUntil } from "./spread.ts";
import { quotaIn, rules, type TestSwarm, testAgent, testSwarm } from "./test-agents.ts";
import { boundedLevel } from "./trust.ts";

const measured = { rules: { ...rules, isMeasured: true, learnsWindows: true } };
const MINUTE = 60_000;

/** Sends this number of calls at once, in each of the next seconds. */
function send(swarm: TestSwarm, perSecond: number, seconds: number): void {
  const [agent] = swarm.agents;
  for (let second = 0; second < seconds; second++) {
    for (let i = 0; i < perSecond; i++) if (agent) swarm.take(agent, 1);
    swarm.pass(1_000);
  }
}

function refuse(swarm: TestSwarm): Spread | undefined {
  const [agent] = swarm.agents;
  if (!agent) throw new Error("no agent");
  swarm.do(agent, { type: "refused", quota: "p", refused: { sentAt: swarm.now, isAnswer: true, reason: "429" } });
  return spreadOf(swarm);
}

function spreadOf(swarm: TestSwarm, index = 0): Spread | undefined {
  return quotaIn(swarm.agents[index] as never).backoff.level.spread;
}

function levelOf(swarm: TestSwarm): number {
  return levelAt(quotaIn(swarm.agents[0] as never).backoff.level, swarm.now);
}

test("a refusal of a burst while the window has room shows a shorter window, and the level is full again within seconds", () => {
  const swarm = testSwarm(1, {}, measured);
  send(swarm, 17, 10);
  // 170 calls in 10 s, at 1,000 a minute.
  expect(refuse(swarm)).toMatchObject({ windowMs: 10_000, dimensions: ["requests"], stayMs: 10 * MINUTE });
  expect(levelOf(swarm)).toBe(0.5);
  swarm.pass(7_000);
  expect(levelOf(swarm)).toBe(1);
});

test("a refusal of evenly spread calls cuts the level", () => {
  const swarm = testSwarm(1, {}, measured);
  send(swarm, 10, 70);
  expect(refuse(swarm)).toBeUndefined();
  expect(levelOf(swarm)).toBeLessThan(0.7);
});

test("a refusal in a full window cuts the level", () => {
  const swarm = testSwarm(1, {}, measured);
  send(swarm, 50, 19);
  expect(refuse(swarm)).toBeUndefined();
  expect(levelOf(swarm)).toBeLessThan(1);
});

test("a second refusal at the same usage cuts the level", () => {
  const swarm = testSwarm(1, {}, measured);
  send(swarm, 40, 10);
  const first = refuse(swarm);
  expect(first).toBeDefined();
  swarm.pass(600);
  expect(refuse(swarm)).toBe(first);
  expect(levelOf(swarm)).toBeCloseTo(0.97 * 0.4, 2);
});

test("a refusal of a burst soon after a measured cut is evidence of the rate, not of a shorter window", () => {
  const swarm = testSwarm(1, {}, measured);
  send(swarm, 15, 70);
  refuse(swarm);
  swarm.pass(40_000);
  send(swarm, 60, 2);
  expect(refuse(swarm)).toBeUndefined();
});

test("a learned sub-window limits calls of all agents at once, and is forgotten in time", () => {
  const swarm = testSwarm(1, {}, measured);
  send(swarm, 17, 10);
  refuse(swarm);
  swarm.pass(20_000);
  const [agent] = swarm.agents as [never];
  let taken = 0;
  while (taken < 1_000 && swarm.take(agent, 1)) taken++;
  expect(taken).toBe(166);
  swarm.pass(5_000);
  expect(swarm.take(agent, 1)).toBe(false);
  swarm.pass(5_100);
  expect(swarm.take(agent, 1)).toBe(true);
  swarm.pass(10 * MINUTE);
  taken = 0;
  while (taken < 2_000 && swarm.take(agent, 1)) taken++;
  expect(taken).toBe(1_000);
});

test("a sub-window that is learned again after it was forgotten stays twice as long", () => {
  const swarm = testSwarm(1, {}, measured);
  send(swarm, 17, 10);
  refuse(swarm);
  swarm.pass(11 * MINUTE);
  send(swarm, 17, 10);
  expect(refuse(swarm)?.stayMs).toBe(20 * MINUTE);
});

test("all agents learn the sub-window, and a newcomer does too", () => {
  const swarm = testSwarm(3, {}, measured);
  swarm.pass(3_000);
  send(swarm, 17, 10);
  refuse(swarm);
  swarm.pass(2_000);
  for (const index of [0, 1, 2]) expect(spreadOf(swarm, index)?.windowMs).toBe(spreadOf(swarm)?.windowMs);
  expect(spreadOf(swarm)).toBeDefined();
});

test("spreads merge to the same one in any order", () => {
  const base = { dimensions: ["requests"], windowMs: 1_000, used: 0.1, at: 5_000, stayMs: 600_000 };
  const spreads: Spread[] = [
    base,
    { ...base, windowMs: 10_000 },
    { ...base, windowMs: 10_000, stayMs: 1_200_000 },
    { ...base, at: 4_000 },
    { ...base, dimensions: ["tokens"] },
  ];
  const all = (order: readonly Spread[]) => order.reduce<Spread | undefined>(mergedSpread, undefined);
  for (const a of spreads)
    for (const b of spreads) {
      expect(mergedSpread(a, b)).toEqual(mergedSpread(b, a));
      for (const c of spreads) expect(mergedSpread(mergedSpread(a, b), c)).toEqual(mergedSpread(a, mergedSpread(b, c)));
    }
  expect(all(spreads)).toEqual(all([...spreads].reverse()));
  expect(spreadUntil(base)).toBe(605_000);
});

test("a later cut without the sub-window does not forget it", () => {
  const swarm = testSwarm(1, {}, measured);
  send(swarm, 17, 10);
  const spread = refuse(swarm);
  const { level } = quotaIn(swarm.agents[0] as never).backoff;
  const later = { ...level, epoch: level.epoch + 5, spread: undefined };
  expect(merge(level, later)).toMatchObject({ epoch: level.epoch + 5, spread });
  expect(merge(later, level)).toMatchObject({ epoch: level.epoch + 5, spread });
});

test("an unsigned message spreads calls for one window, and outranks no sub-window that an agent has learned itself", () => {
  const agent = testAgent();
  // The message has ages in place of times.
  const spread = { dimensions: ["requests"], windowMs: 1_000, used: 0.1, at: 0, stayMs: 86_400_000 };
  const bounded = (at: number) => boundedLevel(agent, quotaIn(agent), { ...FULL, epoch: 1, spread: { ...spread, at } });
  expect(bounded(0).spread).toEqual({ ...spread, stayMs: MINUTE });
  expect(bounded(2 * MINUTE).spread).toEqual({ ...spread, at: 2 * MINUTE, stayMs: 3 * MINUTE });
  expect(bounded(80_000_000).spread).toEqual({ ...spread, at: 9 * MINUTE, stayMs: 10 * MINUTE });
});

test("a signed sub-window holds in full once its sender has been speaking for a window", () => {
  const agent = testAgent("a", { isSigned: true });
  const spread = { dimensions: ["requests"], windowMs: 1_000, used: 0.1, at: 5_000, stayMs: 86_400_000 };
  const bounded = (isEstablished: boolean) =>
    boundedLevel(agent, quotaIn(agent), { ...FULL, epoch: 1, spread }, isEstablished).spread;
  expect(bounded(true)).toBe(spread);
  expect(bounded(false)).toEqual({ ...spread, stayMs: 5_000 + MINUTE });
});
