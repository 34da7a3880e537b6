import { describe, expect, test } from "vitest";
import type { Agent } from "../engine/agent.ts";
import type { Effects, Event } from "../engine/events.ts";
import { FULL, type Level } from "../engine/level.ts";
import { quotaIn, testAgent, testSwarm } from "../engine/test-agents.ts";
import { Laws } from "./laws.ts";

const QUIET: Effects = { taken: false, publish: undefined, ask: undefined, retry: [], wakeAt: Infinity };
const TAKEN: Effects = { ...QUIET, taken: true };
const WAKE: Event = { type: "wake" };
const TAKE: Event = { type: "take", quota: "p", cost: [1] };
const CUT: Level = { ...FULL, epoch: 1, levelAtCut: 0.5, origin: "agent-0", cutAt: 2_000, pausedAt: 2_000 };

function laws(agents = 3): Laws {
  return new Laws({ agents, transitMs: 500, drift: 0 });
}

/** Three agents, the first of which waits behind the claim of the second. */
function inLine(): { agent: Agent; now: number } {
  const swarm = testSwarm(3);
  const [first, second] = swarm.agents as [Agent, Agent];
  expect(swarm.take(first, 300)).toBe(true);
  swarm.want(second, [600]);
  swarm.pass(500);
  swarm.want(first, [500]);
  swarm.pass(500);
  // The denied try above made the engine sum up the claims ahead.
  expect(swarm.take(first, 500)).toBe(false);
  return { agent: first, now: swarm.now };
}

describe("the laws", () => {
  test("hold for agents that only followed the protocol", () => {
    const { agent, now } = inLine();
    expect(() => laws().check(agent, WAKE, QUIET, now, now)).not.toThrow();
  });

  test.each<[string, (agent: Agent) => void, Event, Effects]>([
    ["no timer is set in the past", () => {}, WAKE, { ...QUIET, wakeAt: 10 }],
    [
      "nothing is sent beyond the capacity",
      (agent) => quotaIn(agent).usage.swarm.add(agent.steppedAt, [900]),
      TAKE,
      TAKEN,
    ],
    ["sums are never negative", (agent) => quotaIn(agent).reporting.unconfirmed.fill(-1), WAKE, QUIET],
    ["a claim is never overdrawn", (agent) => quotaIn(agent).claims.own?.amounts.fill(-1), WAKE, QUIET],
    ["the sum of claims is up to date", (agent) => quotaIn(agent).claims.sum.fill(1), WAKE, QUIET],
    [
      "the sum of the claims ahead is up to date",
      (agent) => (quotaIn(agent).claims.ahead as number[]).fill(1),
      WAKE,
      QUIET,
    ],
    [
      "every claimant has a claim",
      (agent) => {
        for (const peer of quotaIn(agent).claims.others) peer.claim = undefined;
      },
      WAKE,
      QUIET,
    ],
    [
      "reports in transit and claims are bounded",
      (agent) => {
        for (let seq = 0; seq <= 1_000; seq++)
          quotaIn(agent).reporting.inTransit.push({ at: 0, seq, unconfirmed: [0], demand: [0] });
      },
      WAKE,
      QUIET,
    ],
    [
      "the agreed budgets sum up to at most the capacity",
      (agent) => quotaIn(agent).isolation.heldForSilent.fill(-500),
      WAKE,
      QUIET,
    ],
    [
      "without a claim no agent takes more than its part of the free capacity",
      (agent) => {
        quotaIn(agent).claims.own = undefined;
        quotaIn(agent).reporting.unconfirmed.fill(690);
      },
      TAKE,
      TAKEN,
    ],
  ])("are violated: %s", (law, broken, event, effects) => {
    const { agent, now } = inLine();
    broken(agent);
    expect(() => laws().check(agent, event, effects, now, now)).toThrow(law);
  });

  test("a joining agent sends nothing", () => {
    const agent = testAgent();
    expect(() => laws().check(agent, TAKE, TAKEN, 10, 10)).toThrow("a joining agent sends nothing");
  });

  test("nothing is sent that the store has not granted", () => {
    const store = { aggregation: "store", above: 300, below: 200 } as const;
    const agent = testAgent("a", { store });
    const grant = { allowed: [3], fair: [3], capacity: [990], stamp: 1, isLearning: false, isAgreed: true };
    quotaIn(agent).allocation.grant = grant;
    (agent.store as NonNullable<Agent["store"]>).answeredAt = 10;
    quotaIn(agent).usage.spentTotal.fill(3);
    const check = () => laws().check(agent, TAKE, TAKEN, 10, 10);
    expect(check).not.toThrow();
    quotaIn(agent).usage.spentTotal.fill(4);
    expect(check).toThrow("nothing is sent that the store has not granted");
  });

  test("departed agents are forgotten", () => {
    const swarm = testSwarm(30);
    const agent = swarm.agents[0] as Agent;
    expect(() => laws().check(agent, WAKE, QUIET, swarm.now, swarm.now)).toThrow("departed agents are forgotten");
    laws(30).check(agent, WAKE, QUIET, swarm.now, swarm.now);
  });

  test("a level is never replaced by an earlier one", () => {
    const [agent] = testSwarm(2).agents as [Agent];
    const held = laws();
    quotaIn(agent).backoff.level = CUT;
    held.check(agent, WAKE, QUIET, 3_000, 3_000);
    quotaIn(agent).backoff.level = FULL;
    expect(() => held.check(agent, WAKE, QUIET, 3_000, 3_000)).toThrow("never replaced by an earlier one");
  });

  test.each([
    [1_000, "earlier"],
    [5_000, "later than the transit of a message allows"],
  ])("a cut has the same age at all agents: one made at 2,000 is not one of %d, %s", (cutAt) => {
    const [first, second] = testSwarm(2).agents as [Agent, Agent];
    const held = laws();
    quotaIn(first).backoff.level = CUT;
    held.check(first, WAKE, QUIET, 6_000, 6_000);
    quotaIn(second).backoff.level = { ...CUT, cutAt };
    expect(() => held.check(second, WAKE, QUIET, 6_000, 6_000)).toThrow("the same age at all agents");
  });

  test("only an agent that cuts itself may repeat a cut of the same name", () => {
    const [first, second] = testSwarm(2).agents as [Agent, Agent];
    const held = laws();
    const again = { ...CUT, cutAt: 9_000 };
    quotaIn(first).backoff.level = CUT;
    held.check(first, WAKE, QUIET, 2_500, 2_500);
    quotaIn(second).backoff.level = again;
    const refused: Event = { type: "refused", quota: "p", refused: { sentAt: 9_000, reason: "429" } };
    expect(() => held.check(second, WAKE, QUIET, 9_000, 9_000)).toThrow("the same age at all agents");
    quotaIn(second).backoff.level = { ...again };
    expect(() => held.check(second, refused, QUIET, 9_000, 9_000)).not.toThrow();
    quotaIn(first).backoff.level = { ...again };
    expect(() => held.check(first, WAKE, QUIET, 9_500, 9_500)).not.toThrow();
  });

  test("are sampled in large swarms where they are slow to check", () => {
    const { agent, now } = inLine();
    quotaIn(agent).claims.sum.fill(1);
    const held = laws(20);
    const check = () => held.check(agent, WAKE, QUIET, now, now);
    for (let step = 1; step < 4; step++) check();
    expect(check).toThrow("the sum of claims");
  });
});
