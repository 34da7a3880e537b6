import { seededRandom } from "@hivepace/core/testing";
import { describe, expect, test } from "vitest";
import { type Arrival, type Behaviour, type Day, meet, WANTED } from "./support/bad-days.ts";

/** Calls of a language model that takes its time; refusals come at once. */
const SLOW_MS = [1_000, 20_000] as const;

const random = (part: number, behaviour: Behaviour) => () => {
  const next = seededRandom(11);
  return (): Behaviour => (next() < part ? behaviour : "ok");
};

/** Overload in episodes of a second, as of a provider that is at its capacity: 30 % of the time. */
const inEpisodes = () => {
  const next = seededRandom(11);
  const bad: boolean[] = [];
  return ({ at }: Pick<Arrival, "at">): Behaviour => {
    const second = Math.floor(at / 1_000);
    while (bad.length <= second) bad.push(next() < 0.3);
    return bad[second] ? "overload" : "ok";
  };
};

const away =
  (behaviour: Behaviour) =>
  () =>
  ({ at }: Pick<Arrival, "at">) =>
    at >= 3_000 && at < 63_000 ? behaviour : "ok";

const arrivalsIn = (arrivals: readonly Arrival[], from: number, to: number): number =>
  arrivals.filter(({ at }) => at >= from && at < to).length;

describe.each([1, 4, 16])("%i agents in virtual time, beside the plain SDK on the same day", (agents) => {
  const day: Pick<Day, "agents" | "runMs"> = { agents, runMs: 20_000 };

  test.each([
    [0.5, undefined],
    [2, undefined],
    [0.5, SLOW_MS],
    [2, SLOW_MS],
  ] as const)("%d %% overload: 95 %% of its completed calls, 1.5 times its p99", async (percent, latencyMs) => {
    const { hivepace, plain } = await meet({ ...day, latencyMs, behave: random(percent / 100, "overload") });
    expect(hivepace.completed).toBeGreaterThanOrEqual(0.95 * plain.completed);
    expect(hivepace.p50).toBeLessThanOrEqual(1.1 * plain.p50);
    expect(hivepace.p99).toBeLessThanOrEqual(1.5 * plain.p99);
  });

  test.each([undefined, SLOW_MS])(
    "30 %% overload, independent of the load: more completed calls",
    async (latencyMs) => {
      const { hivepace, plain } = await meet({ ...day, latencyMs, behave: random(0.3, "overload") });
      expect(hivepace.completed).toBeGreaterThan(plain.completed);
      // Every accepted request completes a call, so that both need 1 / 0.7 requests for each.
      expect(hivepace.sentPerCompleted).toBeLessThanOrEqual(1.03 * plain.sentPerCompleted);
      // Pauses delay calls: more so in large swarms, in which the agent whose turn it is to probe may have no call.
      expect(hivepace.p50).toBeLessThanOrEqual((agents > 4 ? 2 : 1.5) * plain.p50);
    },
  );

  test("30 % overload in episodes: more completed calls, and fewer requests for each", async () => {
    const { hivepace, plain } = await meet({ ...day, behave: inEpisodes });
    expect(hivepace.completed).toBeGreaterThan(plain.completed);
    expect(hivepace.sentPerCompleted).toBeLessThan(0.9 * plain.sentPerCompleted);
  });

  test.each([
    ["overload", undefined],
    ["overload", SLOW_MS],
    ["error", SLOW_MS],
    ["refused", undefined],
  ] as const)("a minute of %s: two probes a second, and back within 3 s", async (how, latencyMs) => {
    const perSecond = 16;
    const minute = { ...day, latencyMs, perSecond, runMs: 70_000 };
    const { hivepace, plain } = await meet({ ...minute, behave: away(how) });
    const { arrivals } = hivepace;
    for (let at = 5_000; at < 63_000; at += 1_000) expect(arrivalsIn(arrivals, at, at + 1_000)).toBeLessThanOrEqual(2);
    for (let at = 66_000; at < 70_000; at += 1_000)
      expect(arrivalsIn(arrivals, at, at + 1_000)).toBeGreaterThanOrEqual(0.9 * perSecond);
    expect(hivepace.completed).toBe(70 * perSecond);
    expect(hivepace.sentPerCompleted).toBeLessThan(plain.sentPerCompleted);
  });

  test.each(["overload", "error", "unauthorized", "forbidden", "no-model", "reset", "refused", "spent"] as const)(
    "one of two endpoints is dead (%s): 99 percent of the calls succeed",
    async (how) => {
      const two = { ...day, runMs: 10_000, hosts: ["one", "two"] };
      const { hivepace, plain } = await meet({
        ...two,
        behave:
          () =>
          ({ host }) =>
            host === "two" ? how : "ok",
      });
      expect(hivepace.completed).toBeGreaterThanOrEqual(0.99 * 10 * WANTED);
      expect(hivepace.sentPerCompleted).toBeLessThan(plain.sentPerCompleted);
      expect(hivepace.p99).toBeLessThanOrEqual(1.1 * plain.p99);
    },
  );

  test.each([undefined, 14 * 3_600])(
    "the quota of one of two models is gone (%s s): one call finds out, and the other model works on",
    async (toldS) => {
      const model = (call: number): string => ((call >> 4) % 2 === 1 ? "big" : "small");
      const spent = { ...day, toldS, model };
      const { hivepace } = await meet({
        ...spent,
        behave:
          () =>
          ({ model }) =>
            model === "big" ? "spent" : "ok",
      });
      expect(hivepace.completed).toBe((20 * WANTED) / 2);
      expect(hivepace.arrivals.filter(({ model }) => model === "big").length).toBeLessThanOrEqual(1 + agents);
    },
  );
});

describe("four agents in virtual time, beside the plain SDK on the same day", () => {
  const day: Pick<Day, "agents" | "runMs"> = { agents: 4, runMs: 20_000 };

  test("2 % server errors of a slow model open no circuit breaker", async () => {
    const slow = { ...day, latencyMs: [10_000, 20_000] as const, perSecond: 100, runMs: 10_000 };
    const { hivepace, plain } = await meet({ ...slow, behave: random(0.02, "error") });
    expect(hivepace.completed).toBeGreaterThanOrEqual(plain.completed);
    expect(hivepace.p50).toBeLessThanOrEqual(1.1 * plain.p50);
    expect(hivepace.p99).toBeLessThanOrEqual(1.5 * plain.p99);
  });

  test.each([
    [0.5, undefined],
    [0.5, SLOW_MS],
    [0.7, SLOW_MS],
  ] as const)("%d overload, independent of the load: more completed calls", async (part, latencyMs) => {
    const patient = { ...day, latencyMs, graceMs: 300_000 };
    const { hivepace, plain } = await meet({ ...patient, behave: random(part, "overload") });
    expect(hivepace.completed).toBeGreaterThan(plain.completed);
    expect(hivepace.sentPerCompleted).toBeLessThanOrEqual(1.05 * plain.sentPerCompleted);
  });
});
