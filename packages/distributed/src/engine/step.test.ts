import fc from "fast-check";
import { afterEach, expect, test, vi } from "vitest";
import { type Agent, shareByWeight } from "./agent.ts";
import { availableOf, capacityOf } from "./capacity.ts";
import type { Event } from "./events.ts";
import type { Level } from "./level.ts";
import { FULL, levelAt } from "./level.ts";
import type { Message } from "./message.ts";
import { agentMode } from "./modes/mode-of.ts";
import { step } from "./step.ts";
import { quotaIn, TestSwarm, testAgent, testSwarm, WINDOW_MS, word } from "./test-agents.ts";

afterEach(() => vi.restoreAllMocks());

const hear = (agent: Agent, message: Message, now: number) => step(agent, { type: "receive", message }, now);
const take = (agent: Agent, now: number, ...cost: number[]) =>
  step(agent, { type: "take", quota: "p", cost }, now).taken;
/** A member that knows a peer `b` with this usage. */
function member(now: number, used = 0): Agent {
  const agent = testAgent("a");
  const { publish } = step(agent, { type: "wake" }, 0);
  hear(agent, publish as Message, 10);
  hear(agent, word("b", 1, {}, { spentTotal: [used] }), 20);
  for (let t = 1_000; t <= now; t += 1_000) {
    const { publish: said } = step(agent, { type: "wake" }, t);
    if (said) hear(agent, said, t);
  }
  return agent;
}

test("a step uses no clock, timer or randomness, and equal steps have equal effects", () => {
  const refuse = () => {
    throw new Error("not pure");
  };
  vi.spyOn(Math, "random").mockImplementation(refuse);
  vi.spyOn(Date, "now").mockImplementation(refuse);
  vi.spyOn(performance, "now").mockImplementation(refuse);
  vi.spyOn(globalThis, "setTimeout").mockImplementation(refuse as never);
  const events: readonly Event[] = [
    { type: "wake" },
    { type: "receive", message: word("b", 1, { upMs: 100 }, { spentTotal: [400] }) },
    { type: "want", quota: "p", next: [700], all: [900] },
    { type: "wake" },
    { type: "take", quota: "p", cost: [1] },
    { type: "settle", quota: "p", more: [-0.5], sentAt: 1_000 },
    { type: "refused", quota: "p", refused: { sentAt: 2_000, reason: "429" } },
    { type: "leave" },
  ];
  const run = () => {
    const agent = testAgent();
    return events.map((event, i) => step(agent, event, i * 500));
  };
  expect(run()).toEqual(run());
});

test("a newcomer sends nothing until the join phase of 1.25 heartbeats is over and its message is echoed", () => {
  const agent = testAgent();
  const { publish } = step(agent, { type: "wake" }, 0);
  expect(take(agent, 0, 1)).toBe(false);
  expect(take(agent, 1_250, 1)).toBe(false);
  hear(agent, publish as Message, 1_260);
  expect(agentMode(agent, 1_260)).toBe("alone");
  expect(take(agent, 1_260, 1)).toBe(true);
});

test("a message from before the join phase does not show that the bus still works", () => {
  const agent = testAgent();
  const { publish } = step(agent, { type: "wake" }, 0);
  hear(agent, publish as Message, 10);
  for (let now = 100; now <= 2_400; now += 100) {
    step(agent, { type: "wake" }, now);
    expect([now, agentMode(agent, now)]).toEqual([now, "joining"]);
  }
  for (let now = 2_500; now <= 4_000; now += 100) step(agent, { type: "wake" }, now);
  expect(agentMode(agent, 4_000)).toBe("isolated");
  // An agent that has never received a message of a peer has only the minimum budget.
  expect([take(agent, 4_000, 1), take(agent, 4_001, 1)]).toEqual([true, false]);
});

test("a newcomer to an idle swarm learns at once that it is not alone", () => {
  for (let idleMs = 60_000; idleMs < 65_000; idleMs += 500) {
    const swarm = testSwarm(2);
    swarm.pass(idleMs);
    const newcomer = testAgent("new", {}, {}, swarm.now);
    swarm.agents.push(newcomer);
    swarm.pass(1_300);
    expect([idleMs, agentMode(newcomer, swarm.now), newcomer.membership.members]).toEqual([idleMs, "member", 3]);
  }
});

test("an agent without a bus has the whole limit at once", () => {
  const agent = testAgent("a", { hasBus: false });
  expect(take(agent, 0, 1_000)).toBe(true);
  expect(take(agent, 1, 1)).toBe(false);
  expect(take(agent, WINDOW_MS + 100, 1)).toBe(true);
});

test("without a claim an agent uses its part of the free capacity and no more, until all know of the usage", () => {
  const swarm = testSwarm(4);
  const [first] = swarm.agents as [Agent];
  // 990 are available in total, and each agent may take a quarter of that.
  expect(swarm.take(first, 248)).toBe(false);
  expect(swarm.take(first, 247)).toBe(true);
  expect(swarm.take(first, 1)).toBe(false);
  swarm.pass(1_000);
  expect(swarm.take(first, 186)).toBe(false);
  expect(swarm.take(first, 185)).toBe(true);
});

test("all parts taken at once, before any message arrives, stay within the limit", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 8 }),
      fc.array(fc.integer({ min: 1, max: 400 }), { maxLength: 60 }),
      (count, costs) => {
        const swarm = testSwarm(count);
        let sum = 0;
        costs.forEach((cost, i) => {
          const agent = swarm.agents[i % count] as Agent;
          // The call bypasses the bus, so no peer learns of it.
          if (step(agent, { type: "take", quota: "p", cost: [cost] }, swarm.now).taken) sum += cost;
        });
        expect(sum).toBeLessThanOrEqual(1_000);
      },
    ),
    { numRuns: 60 },
  );
});

test("a call above the part is claimed, and sent once all agents know the claim", () => {
  const swarm = testSwarm(4);
  const [first, second] = swarm.agents as [Agent, Agent];
  expect(swarm.take(first, 600)).toBe(false);
  swarm.want(first, [600]);
  expect(swarm.take(first, 600)).toBe(false);
  // Other agents may take a quarter of the 390 that are not claimed.
  swarm.pass(100);
  expect(swarm.take(second, 98)).toBe(false);
  expect(swarm.take(second, 97)).toBe(true);
  swarm.pass(300);
  expect(swarm.take(first, 600)).toBe(true);
});

test.each([
  // 990 are free, and an eighth of 990 is 123.75.
  ["two calls more than wait", { next: 1, all: 1, others: 0 }, 3],
  ["also of large ones, up to an eighth of what is free", { next: 41, all: 41, others: 0 }, 123],
  ["no more than waits where that would be more", { next: 42, all: 42, others: 0 }, 42],
  ["what others claim is not free", { next: 3, all: 3, others: 900 }, 9],
  ["what others claim is not free, and is more", { next: 4, all: 4, others: 900 }, 4],
  ["all that waits, though it is more than an agent's part of what is free", { next: 1, all: 80, others: 200 }, 82],
  ["no more than an eighth of what is free", { next: 1, all: 300, others: 200 }, 790 / 8],
  ["half of what is free, when nobody else claims anything", { next: 1, all: 600, others: 0 }, 495],
])("while there is plenty a claim saves those who come next from waiting again: %s", (_, waiting, claimed) => {
  const swarm = testSwarm(20);
  const [first, second] = swarm.agents as [Agent, Agent];
  if (waiting.others > 0) swarm.want(second, [waiting.others]);
  swarm.pass(100);
  swarm.want(first, [waiting.next], [waiting.all]);
  expect(quotaIn(first).claims.own?.amounts[0]).toBeCloseTo(claimed, 9);
});

test("a call that arrives while a claim is published is covered by it", () => {
  const swarm = testSwarm(200, {}, { limits: [100] });
  const [first] = swarm.agents as [Agent];
  expect(swarm.take(first, 1)).toBe(false);
  swarm.want(first, [1]);
  swarm.pass(250);
  expect(swarm.take(first, 1)).toBe(false);
  swarm.want(first, [1], [2]);
  swarm.pass(200);
  expect([swarm.take(first, 1), swarm.take(first, 1)]).toEqual([true, true]);
});

test("a claim is not granted before its echo: the message may have reached no other agent", () => {
  const agent = member(3_000);
  let claim: Message | undefined;
  step(agent, { type: "want", quota: "p", next: [600] }, 3_100);
  for (let now = 3_100; now <= 3_900; now += 50) claim ??= step(agent, { type: "wake" }, now).publish;
  expect(claim?.quotas[0]?.claim?.amounts).toEqual([600]);
  hear(agent, word("b", 2), 3_400);
  expect(take(agent, 3_900, 600)).toBe(false);
  hear(agent, claim as Message, 3_900);
  expect(take(agent, 3_900, 600)).toBe(true);
});

test("a call advances the virtual time by its size over the weight, a large one by two fair shares at most", () => {
  const swarm = testSwarm(4, { weight: 2 });
  const [first, second] = swarm.agents as [Agent, Agent];
  expect(swarm.take(first, 100)).toBe(true);
  expect(quotaIn(first).claims.virtualTime.own).toBeCloseTo(0.05, 9);
  swarm.want(second, [800]);
  swarm.pass(500);
  expect(swarm.take(second, 800)).toBe(true);
  const { own, swarm: line } = quotaIn(second).claims.virtualTime;
  expect(own - line).toBeCloseTo(2 / 8, 9);
});

test("claims are served by virtual time, the agent with the least service first", () => {
  const swarm = testSwarm(3);
  const [first, second, third] = swarm.agents as [Agent, Agent, Agent];
  for (const [agent, calls] of [
    [first, 3],
    [second, 1],
    [third, 0],
  ] as const)
    for (let i = 0; i < calls; i++) {
      expect(swarm.take(agent, 60)).toBe(true);
      swarm.pass(1_000);
    }
  for (const agent of [first, second, third]) swarm.want(agent, [500]);
  swarm.pass(500);
  expect(swarm.take(first, 500)).toBe(false);
  expect(swarm.take(second, 500)).toBe(false);
  expect(swarm.take(third, 500)).toBe(true);
});

/** Two agents, of which one has used 490 long ago and the other 400 just now. */
function nearlyFull(): { swarm: TestSwarm; first: Agent; second: Agent } {
  const swarm = testSwarm(2);
  const [first, second] = swarm.agents as [Agent, Agent];
  expect(swarm.take(first, 490)).toBe(true);
  swarm.pass(20_000);
  swarm.want(second, [400]);
  swarm.pass(500);
  expect(swarm.take(second, 400)).toBe(true);
  swarm.want(second, undefined);
  return { swarm, first, second };
}

test("a small call may overtake a large one that waits for capacity, unless it would delay the large one", () => {
  const { swarm, first, second } = nearlyFull();
  // 890 are used, and 490 of them expire in 40 s: then 590 are free, of which 570 are claimed first. 30 are free now,
  // but the large call would have to wait for them.
  swarm.want(second, [570]);
  swarm.pass(500);
  swarm.want(first, [30]);
  swarm.pass(500);
  expect(swarm.take(first, 30)).toBe(false);
  swarm.want(first, [20]);
  swarm.pass(500);
  expect(swarm.take(first, 20)).toBe(true);
});

test.each([
  ["it lacks so little that its agent may not know of it", 105, 0, false],
  ["others may keep nothing for the silent", 95, 30, false],
  ["it has to wait in any case", 115, 30, true],
])("a small call goes before a large one if that has to wait in its own eyes, too: %s", (_, large, reserved, goes) => {
  const { swarm, first, second } = nearlyFull();
  // 890 are used, so 100 are free, or 110 with the margin for lost messages.
  swarm.want(second, [large]);
  swarm.pass(500);
  swarm.want(first, [5]);
  swarm.pass(500);
  quotaIn(first).isolation.heldForSilent[0] = reserved;
  expect(swarm.take(first, 5)).toBe(goes);
});

test("a newcomer's cut counts, also long after the previous one has ended", () => {
  const swarm = testSwarm(2);
  const [first] = swarm.agents as [Agent];
  const refused = () => ({ sentAt: swarm.now, reason: "429" });
  swarm.do(first, { type: "refused", quota: "p", refused: refused() });
  swarm.pass(15 * WINDOW_MS);
  const newcomer = testAgent("newcomer", {}, {}, swarm.now);
  swarm.agents.push(newcomer);
  swarm.pass(3_000);
  swarm.do(newcomer, { type: "refused", quota: "p", refused: refused() });
  swarm.pass(200);
  for (const agent of swarm.agents) expect(quotaIn(agent).backoff.level).toMatchObject({ epoch: 2, levelAtCut: 0.5 });
});

test("demand that arose after the bus failed enlarges no budget, because peers have not received it", () => {
  const swarm = testSwarm(3);
  const [first, second, third] = swarm.agents as [Agent, Agent, Agent];
  for (const [agent, amount] of [[first, 600] as const, [second, 300] as const]) {
    swarm.want(agent, [amount]);
    swarm.pass(500);
    expect(swarm.take(agent, amount)).toBe(true);
    swarm.want(agent, undefined);
  }
  swarm.pass(2_000);
  for (const agent of swarm.agents) swarm.unreachable.add(agent);
  swarm.want(third, [10], [900]);
  swarm.pass(10_000);
  expect(swarm.agents.map((agent) => agentMode(agent, swarm.now))).toEqual(["isolated", "isolated", "isolated"]);
  const shares = swarm.agents.map((agent) => quotaIn(agent).isolation.budget?.to[0] ?? Number.NaN);
  expect(shares.reduce((sum, share) => sum + share, 0)).toBeLessThanOrEqual(990);
  // The agent has its share of the capacity without demand.
  expect(shares[2]).toBeGreaterThan(0);
});

test("unpublished reports do not pile up during an outage, and none is lost before it is delivered", () => {
  const swarm = testSwarm(2);
  const [first] = swarm.agents as [Agent];
  swarm.unreachable.add(first);
  expect(swarm.take(first, 100)).toBe(true);
  swarm.pass(10 * WINDOW_MS);
  const { inTransit, unconfirmed, unreported } = quotaIn(first).reporting;
  expect([inTransit.length <= 256, ...unconfirmed]).toEqual([true, 100]);
  // The extra usage of a call is reported, too.
  unconfirmed[0] = 105;
  unreported[0] = 5;
  swarm.pass(WINDOW_MS);
  expect([inTransit.length <= 256, ...unconfirmed]).toEqual([true, 105]);
  swarm.unreachable.delete(first);
  swarm.pass(3_000);
  expect([...quotaIn(first).reporting.unconfirmed]).toEqual([0]);
});

test("a call too large for the present level does not block others, and is sent when the level has risen", () => {
  const swarm = testSwarm(3);
  const [first, second] = swarm.agents as [Agent, Agent];
  swarm.do(second, { type: "refused", quota: "p", refused: { sentAt: swarm.now, reason: "429" } });
  swarm.pass(1_000);
  swarm.want(first, [600]);
  swarm.pass(1_000);
  expect(quotaIn(first).claims.own).toBeUndefined();
  swarm.want(second, [300]);
  swarm.pass(1_000);
  expect(swarm.take(second, 300)).toBe(true);
  swarm.want(second, undefined);
  // 0.5 becomes 0.605 after two steps.
  swarm.pass(64_000);
  expect(levelAt(quotaIn(first).backoff.level, swarm.now)).toBeCloseTo(0.605, 9);
  expect(swarm.take(first, 600)).toBe(false);
  swarm.pass(30_000);
  expect(swarm.take(first, 600)).toBe(true);
});

test("a goodbye ends a claim at once and leaves the usage in the window", () => {
  const swarm = testSwarm(2);
  const [first, second] = swarm.agents as [Agent, Agent];
  expect(swarm.take(first, 400)).toBe(true);
  swarm.want(first, [500]);
  swarm.pass(500);
  expect(quotaIn(second).claims.sum).toEqual([500]);
  swarm.do(first, { type: "leave" });
  swarm.gone.add(first);
  expect(quotaIn(second).claims.sum).toEqual([0]);
  expect(second.membership.members).toBe(1);
  expect(availableOf(second, quotaIn(second), swarm.now)).toEqual([590]);
});

test("a goodbye reports the usage since the last message, so that peers do not spend it again", () => {
  const swarm = testSwarm(2);
  const [first, second] = swarm.agents as [Agent, Agent];
  // The usage is too small for an early report.
  expect(swarm.take(first, 3)).toBe(true);
  expect(availableOf(second, quotaIn(second), swarm.now)).toEqual([990]);
  swarm.do(first, { type: "leave" });
  expect(availableOf(second, quotaIn(second), swarm.now)).toEqual([987]);
});

test("a decision publishes nothing: messages follow at the next wake-up", () => {
  const swarm = testSwarm(2);
  const [first, second] = swarm.agents as [Agent, Agent];
  const { taken, publish, wakeAt } = swarm.do(first, { type: "take", quota: "p", cost: [400] });
  expect([taken, publish, wakeAt]).toEqual([true, undefined, swarm.now]);
  swarm.do(first, { type: "wake" });
  expect(availableOf(second, quotaIn(second), swarm.now)).toEqual([590]);
});

test("the share of a silent agent is held free for a window and half a minute, and then no longer", () => {
  const swarm = testSwarm(2);
  const [first, second] = swarm.agents as [Agent, Agent];
  expect(swarm.take(first, 300)).toBe(true);
  swarm.pass(1_000);
  swarm.gone.add(first);
  swarm.pass(7_000);
  const free = (agent: Agent) => availableOf(agent, quotaIn(agent), swarm.now)[0] as number;
  expect(second.membership.members).toBe(1);
  // Half of the free capacity belongs to the silent peer, besides its usage.
  expect(free(second)).toBeLessThan(400);
  swarm.pass(60_000);
  expect(free(second)).toBeLessThan(600);
  swarm.pass(35_000);
  expect(free(second)).toBeGreaterThan(980);
});

test("the budget of an incarnation that ended unheard is held free for one more window", () => {
  const swarm = testSwarm(2);
  const [first, second] = swarm.agents as [Agent, Agent];
  const free = () => availableOf(first, quotaIn(first), swarm.now)[0] as number;
  expect(swarm.take(second, 300)).toBe(true);
  swarm.pass(1_000);
  swarm.unreachable.add(first).add(second);
  swarm.pass(80_000);
  swarm.unreachable.clear();
  swarm.gone.add(second);
  const live = (from: number, to: number) => {
    for (let seq = from; seq <= to; seq++) {
      const message = word(second.config.id, seq, { incarnation: 2, upMs: seq * 1_000 });
      swarm.do(first, { type: "receive", message });
      swarm.pass(1_000);
    }
  };
  live(1, 50);
  // Half of the share is held, because a peer isolated for long may go on using it.
  expect(free()).toBeCloseTo(980 - 645 / 2, 0);
  live(51, 62);
  expect(free()).toBe(990);
});

test("an isolated agent continues with the agreed budget, and both sides together stay within the limit", () => {
  for (const isolation of ["safe", "balanced"] as const) {
    const swarm = testSwarm(4, { isolation });
    const [first] = swarm.agents as [Agent];
    const sent: { readonly at: number; readonly isCutOff: boolean }[] = [];
    for (let second = 0; second < 150; second++) {
      if (second === 70) swarm.gone.add(first);
      swarm.pass(1_000);
      for (const agent of swarm.agents) {
        const isCutOff = swarm.gone.has(agent);
        if (isCutOff) step(agent, { type: "wake" }, swarm.now);
        // Every agent tries to send four times its share, evenly.
        for (let i = 0; i < 17; i++) {
          const event: Event = { type: "take", quota: "p", cost: [1] };
          const { taken } = isCutOff ? step(agent, event, swarm.now) : swarm.do(agent, event);
          if (taken) sent.push({ at: swarm.now, isCutOff });
        }
      }
    }
    for (const { at } of sent)
      expect(sent.filter((call) => call.at > at - WINDOW_MS && call.at <= at).length).toBeLessThanOrEqual(1_020);
    const alone = sent.filter(({ isCutOff }) => isCutOff).length;
    // The isolation lasts 80 s: 30 s at a share of 250 per minute, then half of that, or nothing.
    expect(alone).toBeGreaterThan(isolation === "safe" ? 90 : 160);
    expect(alone).toBeLessThan(isolation === "safe" ? 160 : 260);
  }
});

test("an agent that receives nothing but can still send reports its budget, and peers hold it free", () => {
  const swarm = testSwarm(4);
  const [first, second] = swarm.agents as [Agent, Agent];
  swarm.unreachable.add(first);
  swarm.pass(10_000);
  expect(agentMode(first, swarm.now)).toBe("isolated");
  const [kept] = quotaIn(second).claims.sum as [number];
  expect(kept).toBeGreaterThan(200);
  // The budget is a quarter of the capacity that was free at the last contact, without capacity freed since.
  expect(kept).toBeLessThanOrEqual(247);
  expect(quotaIn(first).isolation.budget?.from[0]).toBeLessThan(240);
  swarm.unreachable.clear();
  swarm.pass(3_000);
  expect(quotaIn(second).claims.sum).toEqual([0]);
});

test("an agent that has never received a message uses the part for the expected agents, or the minimum", () => {
  for (const [expectedAgents, most] of [
    [10, 98],
    [undefined, 1],
  ] as const) {
    const agent = testAgent("a", { expectedAgents });
    for (let now = 0; now <= 4_000; now += 500) step(agent, { type: "wake" }, now);
    expect(agentMode(agent, 4_000)).toBe("isolated");
    let sum = 0;
    while (take(agent, 4_000, 1)) sum++;
    expect(sum).toBe(most);
  }
});

test("a suspended process joins again first", () => {
  const agent = member(5_000);
  expect(agentMode(agent, 5_000)).toBe("member");
  expect(take(agent, 10_000, 1)).toBe(false);
  expect(agentMode(agent, 10_000)).not.toBe("member");
});

test("usage that has left the window is no longer reported", () => {
  const swarm = testSwarm(2);
  const [first, second] = swarm.agents as [Agent, Agent];
  expect(swarm.take(first, 100)).toBe(true);
  swarm.pass(10_000);
  const reported = () => second.membership.peers.get("agent-0 1")?.quotas.get("p");
  expect(reported()?.report.used).toEqual([100]);
  swarm.pass(WINDOW_MS);
  expect(reported()?.report.used).toEqual([0]);
  // Afterwards the quota is no longer reported.
  swarm.pass(2 * WINDOW_MS);
  expect(reported()?.reportedAt).toBeLessThan(swarm.now - WINDOW_MS);
});

test("usage below the estimate is free again for all, usage above it is counted", () => {
  const swarm = testSwarm(2);
  const [first, second] = swarm.agents as [Agent, Agent];
  const sentAt = swarm.now;
  expect(swarm.take(first, 400)).toBe(true);
  swarm.pass(1_000);
  swarm.do(first, { type: "settle", quota: "p", more: [-300], sentAt });
  swarm.pass(1_000);
  for (const agent of swarm.agents) expect(availableOf(agent, quotaIn(agent), swarm.now)).toEqual([890]);
  swarm.do(first, { type: "settle", quota: "p", more: [50], sentAt });
  swarm.pass(1_000);
  for (const agent of swarm.agents) expect(availableOf(agent, quotaIn(agent), swarm.now)).toEqual([840]);
  expect(second.membership.members).toBe(2);
});

test("requests and tokens are one decision: neither is charged when the other does not fit", () => {
  const swarm = testSwarm(2, {}, { limits: [100, 100_000] });
  const [first] = swarm.agents as [Agent];
  expect(swarm.take(first, 1, 60_000)).toBe(false);
  expect(quotaIn(first).usage.swarm.sum).toEqual([0, 0]);
  expect(swarm.take(first, 1, 40_000)).toBe(true);
  expect(quotaIn(first).usage.swarm.sum).toEqual([1, 40_000]);
});

test("weights divide the free capacity", () => {
  const swarm = new TestSwarm([testAgent("a", { weight: 3 }), testAgent("b", { weight: 1 })]);
  swarm.pass(3_000);
  const [heavy, light] = swarm.agents as [Agent, Agent];
  expect(shareByWeight(heavy, swarm.now)).toBe(0.75);
  expect(shareByWeight(light, swarm.now)).toBe(0.25);
});

test("a newcomer counts the usage of agents that left before it joined", () => {
  const swarm = testSwarm(3);
  const [first] = swarm.agents as [Agent];
  expect(swarm.take(first, 300)).toBe(true);
  swarm.pass(1_000);
  swarm.do(first, { type: "leave" });
  swarm.gone.add(first);
  swarm.pass(10_000);
  const newcomer = testAgent("new", {}, {}, swarm.now);
  swarm.agents.push(newcomer);
  swarm.pass(3_000);
  expect(availableOf(newcomer, quotaIn(newcomer), swarm.now)[0]).toBeLessThanOrEqual(690);
});

test("of different limits the smallest applies while its agent is live", () => {
  const swarm = new TestSwarm([testAgent("a"), testAgent("b", {}, { limits: [500] })]);
  swarm.pass(3_000);
  const [first, second] = swarm.agents as [Agent, Agent];
  expect(swarm.take(second, 10)).toBe(true);
  swarm.pass(1_000);
  expect(capacityOf(first, quotaIn(first), swarm.now)).toEqual([495]);
  swarm.do(second, { type: "leave" });
  swarm.gone.add(second);
  expect(capacityOf(first, quotaIn(first), swarm.now)).toEqual([990]);
});

test("old and repeated messages change nothing, nor do those of an ended incarnation", () => {
  const agent = member(3_000);
  hear(agent, word("b", 5, {}, { spentTotal: [50] }), 3_000);
  hear(agent, word("b", 5, {}, { spentTotal: [50] }), 3_001);
  hear(agent, word("b", 3, {}, { spentTotal: [30] }), 3_002);
  expect(quotaIn(agent).usage.swarm.sum).toEqual([50]);
  hear(agent, word("b", 1, { incarnation: 2 }, { spentTotal: [7] }), 3_003);
  expect(agent.membership.members).toBe(2);
  expect(quotaIn(agent).usage.swarm.sum).toEqual([57]);
  hear(agent, word("c", 2, { bye: true }), 3_004);
  hear(agent, word("c", 3), 3_005);
  expect(agent.membership.members).toBe(2);
  expect(Object.fromEntries(agent.ignored)).toEqual({ stale: 2, left: 1 });
});

test("a second process with the same id is detected, and counts as a separate agent", () => {
  const agent = member(3_000);
  for (let seq = 1; seq <= 8; seq++) hear(agent, word("a", seq, { incarnation: 7 }), 3_000 + seq * 500);
  expect(agent.duplicateSeenAt).toBe(7_000);
  expect(agent.membership.members).toBe(3);
});

test("impossible messages are counted and have no effect", () => {
  const agent = member(3_000);
  hear(agent, word("b", 3, {}, { windowMs: 1_000 }), 3_001);
  hear(agent, word("b", 4, {}, { limits: [1, 2] }), 3_002);
  hear(agent, word("b", 5, {}, { level: { ...FULL, epoch: 1_002, levelAtCut: 0.001, cutAt: 0, pausedAt: 0 } }), 3_003);
  expect(Object.fromEntries(agent.ignored)).toEqual({ "other limits": 2, "epoch far ahead": 1 });
  expect(quotaIn(agent).backoff.level).toBe(FULL);
});

test("above the maximum of agents the newest strangers are remembered, and those that reported for longer", () => {
  const agent = member(3_000);
  hear(agent, word("b", 3), 4_000);
  for (let i = 0; i < 25_000; i++) hear(agent, word(`x${i}`, 1, { quotas: [] }), 4_000 + i / 100);
  const { peers, newest, members } = agent.membership;
  expect(peers.size).toBeLessThanOrEqual(4_096);
  expect(newest.size).toBe(peers.size);
  expect(members).toBe(peers.size + 1);
  expect([...peers.values()].map(({ id }) => id)).toEqual(expect.arrayContaining(["b", "x24999", "x24600"]));
  hear(agent, word("newcomer", 1), 4_300);
  expect(newest.get("newcomer")?.state).toBe("live");
});

test("departed agents are forgotten", () => {
  const swarm = testSwarm(3);
  for (const agent of swarm.agents.slice(1)) swarm.gone.add(agent);
  swarm.pass(2 * WINDOW_MS + 61_000);
  expect(swarm.agents[0]?.membership.peers.size).toBe(0);
});

test("an idle agent sends a heartbeat every five seconds", () => {
  const agent = member(3_000);
  const said: number[] = [];
  for (let now = 3_000; now <= 23_000; now += 100) {
    const { publish } = step(agent, { type: "wake" }, now);
    if (!publish) continue;
    said.push(now);
    hear(agent, publish, now);
  }
  expect(said.length).toBeLessThanOrEqual(5);
});

test("a suspended process joins again, and does not take its peers for silent", () => {
  const swarm = testSwarm(4);
  const [first] = swarm.agents as [Agent];
  const quota = quotaIn(first);
  // The pause is long enough for the peers to be suspected, if the process had been running.
  const now = swarm.now + 40_000;
  step(first, { type: "wake" }, now);
  expect(step(first, { type: "take", quota: "p", cost: [1] }, now).taken).toBe(false);
  expect(first.membership.members).toBe(4);
  expect(quota.isolation.heldForSilent).toEqual([0]);
  expect(quota.isolation.budget).toBeUndefined();
});

test("an agent keeps the announced time of its next message, also when it has less to report meanwhile", () => {
  const agent = testAgent();
  const heard: Message[] = [];
  let promisedBy = Infinity;
  for (let now = 0; now < 60_000; now += 50) {
    if (now === 6_000) expect(take(agent, now, 1)).toBe(true);
    const { publish } = step(agent, { type: "wake" }, now);
    expect(now).toBeLessThanOrEqual(promisedBy);
    if (!publish) continue;
    heard.push(publish);
    promisedBy = now + publish.nextMs;
    hear(agent, publish, now);
  }
  expect(new Set(heard.map(({ nextMs }) => nextMs))).toEqual(new Set([1_000, 5_000]));
});

test("a newcomer learns of a cut from agents that have used nothing since", () => {
  const agent = testAgent();
  hear(agent, word("b", 1, {}, { level: { ...FULL, epoch: 1, levelAtCut: 0.5, cutAt: 90_000, pausedAt: 90_000 } }), 0);
  step(agent, { type: "wake" }, 100);
  hear(agent, word("c", 1, { upMs: 0, quotas: [] }), 20_000);
  const { wakeAt } = step(agent, { type: "wake" }, 20_000);
  expect(wakeAt).toBeLessThanOrEqual(20_500);
});

test("a changed limit is published at once", () => {
  const swarm = testSwarm(3);
  const [first, second] = swarm.agents as [Agent, Agent];
  const quota = quotaIn(first);
  quota.config = { ...quota.config, limits: [400] };
  swarm.do(first, { type: "wake" });
  swarm.pass(100);
  expect(quotaIn(second).limits).toEqual([400]);
});

test("a newcomer starts at the virtual time of the first claim, and never far ahead of the order", () => {
  const swarm = testSwarm(2);
  const [first] = swarm.agents as [Agent];
  const quota = quotaIn(first);
  quota.history.approximateUntil = Infinity;
  const claims = (virtualTime: number, id: string) => {
    const claim = { amounts: [5], next: [5], virtualTime, tie: 1, waitedMs: 0 };
    swarm.do(first, { type: "receive", message: word(id, 1, {}, { claim, virtualTime: 2.5 }) });
  };
  claims(2.4, "x");
  claims(2.3, "y");
  // The peer is isolated, so its claim has no virtual time.
  claims(0, "z");
  swarm.want(first, [990]);
  expect(quota.claims.own?.virtualTime).toBe(2.3);
  swarm.want(first, undefined);
  claims(0.1, "liar");
  swarm.want(first, [990]);
  expect(quota.claims.own?.virtualTime).toBeCloseTo(2.5 - 2 / first.membership.weights);
});

test("established agents leave a larger margin while there is a newcomer", () => {
  const agent = member(WINDOW_MS);
  const now = WINDOW_MS + 500;
  expect(capacityOf(agent, quotaIn(agent), now)).toEqual([990]);
  hear(agent, word("new", 1, { upMs: 0 }), now);
  expect(capacityOf(agent, quotaIn(agent), now)).toEqual([980]);
  expect(capacityOf(agent, quotaIn(agent), now + WINDOW_MS)).toEqual([990]);
  const other = testAgent("other", {}, {}, now);
  hear(other, word("new", 1, { upMs: 0 }), now);
  expect(capacityOf(other, quotaIn(other), now)).toEqual([990]);
});

test("a claim above the limit has no place in the order", () => {
  const agent = member(3_000);
  const claim = { amounts: [1e9], next: [1], virtualTime: 0, tie: 1, waitedMs: 0 };
  hear(agent, word("liar", 1, {}, { claim }), 3_000);
  expect(quotaIn(agent).claims.sum).toEqual([0]);
  expect(agent.ignored.get("impossible claim")).toBe(1);
});

test("a message without news changes no plan and causes no message", () => {
  const swarm = testSwarm(2);
  const [first] = swarm.agents as [Agent];
  const { now } = swarm;
  const claim = { amounts: [50], next: [5], virtualTime: 1, tie: 7, waitedMs: 0 };
  const said = (seq: number, more = {}) => step(first, { type: "receive", message: word("z", seq, {}, more) }, now);
  expect(said(1, { claim }).wakeAt).toBeLessThan(Infinity);
  expect(said(2, { claim: { ...claim } })).toEqual({ taken: false, retry: [], wakeAt: Infinity });
  expect(said(3, { claim: { ...claim, next: [6] } }).wakeAt).toBeLessThan(Infinity);
  expect(said(4, { claim: { ...claim, next: [6], amounts: [51] } }).wakeAt).toBeLessThan(Infinity);
  expect(quotaIn(first).claims.sum).toEqual([51]);
  expect(said(5, { sent: [1] }).wakeAt).toBeLessThan(Infinity);
  expect(quotaIn(first).claims.sum).toEqual([0]);
});

interface Said {
  readonly from: number;
  readonly more: number;
  readonly claim: number;
  readonly epoch: number;
}

test("agents with everyone's latest message know the same, in any order, with losses and repetitions", () => {
  const words = fc.array(
    fc.record({
      from: fc.integer({ min: 0, max: 3 }),
      more: fc.integer({ min: 0, max: 40 }),
      claim: fc.integer({ min: 0, max: 90 }),
      epoch: fc.integer({ min: 0, max: 3 }),
    }),
    { minLength: 1, maxLength: 25 },
  );
  const orders = fc.array(fc.nat(1_000), { minLength: 25, maxLength: 60 });
  fc.assert(
    fc.property(words, orders, orders, (all, one, other) => {
      const messages = spoken(all);
      // Both agents receive the last message of each sender at some time; of the earlier messages some are lost and
      // some repeated.
      const last = [...new Map(messages.map((message) => [message.id, message])).values()];
      const heardBy = (id: string, order: readonly number[]) => {
        const agent = testAgent(id);
        const mixed = order.map((n) => messages[n % messages.length] as Message);
        mixed.splice((order[0] as number) % mixed.length, 0, ...last);
        for (const message of mixed) hear(agent, message, 100);
        // A level may have arrived in a message that the other agent has not received.
        for (const message of messages) hear(agent, message, 100);
        const { claims, usage, backoff, limits } = quotaIn(agent);
        const sorted = [...claims.others].map(({ claim }) => claim).sort((a, b) => (a?.tie ?? 0) - (b?.tie ?? 0));
        return {
          sorted,
          claimed: claims.sum,
          used: usage.swarm.sum,
          level: backoff.level,
          limits,
          line: claims.virtualTime.swarm,
          members: agent.membership.members,
        };
      };
      const [a, b] = [heardBy("a", one), heardBy("z", other)];
      expect({ ...a, line: 0, level: 0 }).toEqual({ ...b, line: 0, level: 0 });
    }),
    { numRuns: 200 },
  );
});

const someLevels = () =>
  fc.array(
    fc.record({
      epoch: fc.integer({ min: 1, max: 3 }),
      base: fc.constantFrom(0.25, 0.5),
      age: fc.integer({ min: 0, max: 90_000 }),
    }),
    { minLength: 1, maxLength: 10 },
  );
const levelsOf = (all: readonly { epoch: number; base: number; age: number }[]) =>
  all.map(({ epoch, base, age }): Level => ({ ...FULL, epoch, levelAtCut: base, cutAt: age, pausedAt: age }));

test("a signed level is the same for all agents on any path, and repeating it delays no recovery", () => {
  fc.assert(
    fc.property(someLevels(), (all) => {
      const reports = levelsOf(all);
      const after = (order: readonly Level[]) => {
        const agent = testAgent("a", { isSigned: true });
        for (const [i, level] of order.entries()) hear(agent, word("b", i + 1, {}, { level }), 200_000);
        return quotaIn(agent).backoff.level;
      };
      expect(after(reports)).toEqual(after([...reports].reverse()));
      expect(after([...reports, ...reports])).toEqual(after(reports));
    }),
  );
});

test("no unsigned message raises the level, apart from transit times", () => {
  fc.assert(
    fc.property(someLevels(), fc.integer({ min: 0, max: 90_000 }), (all, cutMs) => {
      const agent = testAgent();
      const cut: Level = { ...FULL, epoch: 2, levelAtCut: 0.25, recoveryFactor: 1.1, recoveryIntervalMs: 30_000 };
      quotaIn(agent).backoff.level = { ...cut, cutAt: 200_000 - cutMs, pausedAt: 200_000 - cutMs };
      quotaIn(agent).backoff.learnedCutAt = 200_000 - cutMs;
      for (const [i, level] of levelsOf(all).entries()) {
        // Transit times of the same cut differ by up to three seconds, which may be one step of the recovery.
        const before = levelAt(quotaIn(agent).backoff.level, 203_000);
        hear(
          agent,
          word("b", i + 1, {}, { level: { ...level, recoveryFactor: 1.1, recoveryIntervalMs: 30_000 } }),
          200_000,
        );
        expect(levelAt(quotaIn(agent).backoff.level, 200_000)).toBeLessThanOrEqual(before);
      }
    }),
  );
});

test("a goodbye without proof is believed once the agent is silent, and not while it still reports", () => {
  const agent = member(3_000);
  for (const id of ["b", "c"]) hear(agent, word(id, 1), 3_000);
  for (const id of ["b", "c"]) hear(agent, word(id, 2, { bye: true, isUnproven: true }), 3_100);
  expect(agent.membership.members).toBe(3);
  for (let now = 4_000, seq = 3; now < 12_000; now += 1_000, seq++) {
    hear(agent, word("c", seq), now);
    step(agent, { type: "wake" }, now);
  }
  expect([...agent.membership.peers.values()].map(({ id, state }) => `${id} ${state}`)).toEqual(["b left", "c live"]);
  expect(quotaIn(agent).isolation.heldForSilent).toEqual([0]);
});

test("a forged sequence number is refused when it is far ahead, and otherwise delays an agent for a moment", () => {
  const agent = member(3_000);
  hear(agent, word("x", 1, {}, { spentTotal: [1] }), 3_000);
  hear(agent, word("x", 2 ** 53 - 1, {}, { spentTotal: [1] }), 3_001);
  expect(Object.fromEntries(agent.ignored)).toEqual({ "sequence far ahead": 1 });
  hear(agent, word("x", 90, {}, { spentTotal: [1] }), 3_002);
  for (let seq = 2; seq <= 6; seq++) hear(agent, word("x", seq, {}, { spentTotal: [seq] }), 2_000 + seq * 1_000);
  expect(quotaIn(agent).usage.swarm.sum[0]).toBeGreaterThanOrEqual(6);
  expect(agent.membership.peers.get("x 1")?.seq).toBe(6);
});

test("a forged virtual time does not move the swarm's out of reach", () => {
  const agent = member(10_000);
  hear(agent, word("x", 1, {}, { virtualTime: 2 ** 53 - 1 }), 10_000);
  hear(agent, word("x", 2, {}, { virtualTime: 2 ** 53 - 1 }), 10_001);
  expect(quotaIn(agent).claims.virtualTime.swarm).toBeLessThan(4);
});

test("a message that promises the next one in an hour counts for about a window", () => {
  const agent = member(3_000);
  hear(agent, word("x", 1, { nextMs: 3_600_000 }, { limits: [1] }), 3_000);
  expect(quotaIn(agent).limits).toEqual([1]);
  for (let ms = 0; ms <= WINDOW_MS + 2_000; ms += 1_000) {
    hear(agent, word("a", agent.link.seq), 3_000 + ms);
    step(agent, { type: "wake" }, 3_000 + ms);
  }
  expect(quotaIn(agent).limits).toEqual([1_000]);
});

/** Messages of four agents, each with consistent totals and sequence numbers. */
function spoken(all: readonly Said[]): Message[] {
  const sums = [0, 0, 0, 0];
  const seqs = [0, 0, 0, 0];
  return all.map(({ from, more, claim, epoch }) => {
    sums[from] = (sums[from] as number) + more;
    seqs[from] = (seqs[from] as number) + 1;
    const claimed = { amounts: [claim], next: [claim], virtualTime: claim / 10, tie: from, waitedMs: 0 };
    return word(
      `b${from}`,
      seqs[from] as number,
      {},
      {
        spentTotal: [sums[from] as number],
        claim: claim > 0 ? claimed : undefined,
        level: epoch > 0 ? { ...FULL, epoch, levelAtCut: 0.5, cutAt: 50, pausedAt: 50 } : undefined,
      },
    );
  });
}
