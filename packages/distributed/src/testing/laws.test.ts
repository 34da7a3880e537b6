import { describe, expect, test } from "vitest";
import type { Agent } from "../engine/agent.ts";
import type { Effects, Event } from "../engine/events.ts";
import { FULL, type Level } from "../engine/level.ts";
import { poolIn, testAgent, testSwarm } from "../engine/test-agents.ts";
import { Laws } from "./laws.ts";

const QUIET: Effects = { taken: false, publish: undefined, ask: undefined, retry: [], wakeAt: Infinity };
const TAKEN: Effects = { ...QUIET, taken: true };
const WAKE: Event = { type: "wake" };
const TAKE: Event = { type: "take", pool: "p", cost: [1] };
const CUT: Level = { ...FULL, epoch: 1, base: 0.5, origin: "agent-0", cutAt: 2_000, pausedAt: 2_000 };

function laws(agents = 3): Laws {
  return new Laws({ agents, transitMs: 500, drift: 0 });
}

/** Three agents, of whom the first stands in line behind the second. */
function inLine(): { agent: Agent; now: number } {
  const swarm = testSwarm(3);
  const [first, second] = swarm.agents as [Agent, Agent];
  expect(swarm.take(first, 300)).toBe(true);
  swarm.want(second, [600]);
  swarm.pass(500);
  swarm.want(first, [500]);
  swarm.pass(500);
  // Who tries has summed up those before it.
  expect(swarm.take(first, 500)).toBe(false);
  return { agent: first, now: swarm.now };
}

describe("the laws", () => {
  test("hold for agents to whom nothing was done", () => {
    const { agent, now } = inLine();
    expect(() => laws().check(agent, WAKE, QUIET, now, now)).not.toThrow();
  });

  test.each<[string, (agent: Agent) => void, Event, Effects]>([
    ["no timer is in the past", () => {}, WAKE, { ...QUIET, wakeAt: 10 }],
    [
      "nothing is sent for which the window has no room",
      (agent) => poolIn(agent).used.add(agent.steppedAt, [900]),
      TAKE,
      TAKEN,
    ],
    ["sums are never below nothing", (agent) => poolIn(agent).blind.fill(-1), WAKE, QUIET],
    ["a claim is never overdrawn", (agent) => poolIn(agent).claim?.amounts.fill(-1), WAKE, QUIET],
    ["the sum of claims is the sum of the claims", (agent) => poolIn(agent).claimed.fill(1), WAKE, QUIET],
    ["so is the sum of those before", (agent) => (poolIn(agent).before as number[]).fill(1), WAKE, QUIET],
    [
      "who claims nothing is no claimant",
      (agent) => {
        for (const peer of poolIn(agent).claimants) peer.claim = undefined;
      },
      WAKE,
      QUIET,
    ],
    [
      "what is known does not pile up",
      (agent) => {
        for (let seq = 0; seq <= 1_000; seq++) poolIn(agent).reports.push({ at: 0, seq, blind: [0], waiting: [0] });
      },
      WAKE,
      QUIET,
    ],
    ["shares sum up to the capacity at most", (agent) => poolIn(agent).reserved.fill(-500), WAKE, QUIET],
    [
      "without a claim nobody takes more than its part",
      (agent) => {
        poolIn(agent).claim = undefined;
        poolIn(agent).blind.fill(690);
      },
      TAKE,
      TAKEN,
    ],
  ])("are broken when not: %s", (law, broken, event, effects) => {
    const { agent, now } = inLine();
    broken(agent);
    expect(() => laws().check(agent, event, effects, now, now)).toThrow(law);
  });

  test("one that listens sends nothing", () => {
    const agent = testAgent();
    expect(() => laws().check(agent, TAKE, TAKEN, 10, 10)).toThrow("one that listens sends nothing");
  });

  test("nothing is sent that the store has not handed out", () => {
    const store = { aggregation: "store", above: 300, below: 200 } as const;
    const agent = testAgent("a", { store });
    const handedOut = { allowed: [3], fair: [3], capacity: [990], stamp: 1, isLearning: false, isAgreed: true };
    poolIn(agent).allotment = handedOut;
    (agent.store as NonNullable<Agent["store"]>).answeredAt = 10;
    poolIn(agent).sent.fill(3);
    const look = () => laws().check(agent, TAKE, TAKEN, 10, 10);
    expect(look).not.toThrow();
    poolIn(agent).sent.fill(4);
    expect(look).toThrow("nothing is sent that the store has not handed out");
  });

  test("the dead are forgotten", () => {
    const swarm = testSwarm(30);
    const agent = swarm.agents[0] as Agent;
    expect(() => laws().check(agent, WAKE, QUIET, swarm.now, swarm.now)).toThrow("the dead are forgotten");
    laws(30).check(agent, WAKE, QUIET, swarm.now, swarm.now);
  });

  test("a level is never replaced by an earlier one", () => {
    const [agent] = testSwarm(2).agents as [Agent];
    const held = laws();
    poolIn(agent).level = CUT;
    held.check(agent, WAKE, QUIET, 3_000, 3_000);
    poolIn(agent).level = FULL;
    expect(() => held.check(agent, WAKE, QUIET, 3_000, 3_000)).toThrow("never replaced by an earlier one");
  });

  test.each([
    [1_000, "earlier"],
    [5_000, "later than by the way of a message"],
  ])("a cut has the same age everywhere: one made at 2,000 is not one of %d, %s", (cutAt) => {
    const [first, second] = testSwarm(2).agents as [Agent, Agent];
    const held = laws();
    poolIn(first).level = CUT;
    held.check(first, WAKE, QUIET, 6_000, 6_000);
    poolIn(second).level = { ...CUT, cutAt };
    expect(() => held.check(second, WAKE, QUIET, 6_000, 6_000)).toThrow("the same age everywhere");
  });

  test("who has forgotten a cut may make one of the same name, and nobody else may", () => {
    const [first, second] = testSwarm(2).agents as [Agent, Agent];
    const held = laws();
    const again = { ...CUT, cutAt: 9_000 };
    poolIn(first).level = CUT;
    held.check(first, WAKE, QUIET, 2_500, 2_500);
    poolIn(second).level = again;
    const refused: Event = { type: "refused", pool: "p", refused: { sentAt: 9_000, reason: "429" } };
    expect(() => held.check(second, WAKE, QUIET, 9_000, 9_000)).toThrow("the same age everywhere");
    poolIn(second).level = { ...again };
    expect(() => held.check(second, refused, QUIET, 9_000, 9_000)).not.toThrow();
    poolIn(first).level = { ...again };
    expect(() => held.check(first, WAKE, QUIET, 9_500, 9_500)).not.toThrow();
  });

  test("are looked at less often, where that takes long, when agents are many", () => {
    const { agent, now } = inLine();
    poolIn(agent).claimed.fill(1);
    const held = laws(20);
    const look = () => held.check(agent, WAKE, QUIET, now, now);
    for (let step = 1; step < 4; step++) look();
    expect(look).toThrow("the sum of claims");
  });
});
