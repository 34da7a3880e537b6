import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { bySession, leastUsed, type Open, roundRobin, weighted } from "./strategies.ts";

const open = (...names: string[]): Open[] => names.map((endpoint) => ({ endpoint, utilization: 0 }));
const used = (...uses: number[]): Open[] => uses.map((utilization, i) => ({ endpoint: `e${i}`, utilization }));
const name = (list: readonly Open[], i: number) => list[i]?.endpoint;

describe("by session", () => {
  const all = open("eu", "us", "asia", "africa");

  test("a session always goes to the same endpoint, for any order of the candidates", () => {
    fc.assert(
      fc.property(fc.string(), fc.shuffledSubarray(all, { minLength: 4 }), (session, shuffled) => {
        expect(name(shuffled, bySession(shuffled, session))).toBe(name(all, bySession(all, session)));
      }),
    );
  });

  test("sessions are spread evenly over the endpoints", () => {
    const counts = new Map<string | undefined, number>();
    for (let i = 0; i < 10_000; i++) {
      const chosen = name(all, bySession(all, `session-${i}`));
      counts.set(chosen, (counts.get(chosen) ?? 0) + 1);
    }
    for (const { endpoint } of all) expect(Math.abs((counts.get(endpoint) ?? 0) - 2_500)).toBeLessThan(250);
  });

  test("when an endpoint leaves, only its sessions move", () => {
    const rest = open("eu", "us", "africa");
    for (let i = 0; i < 1_000; i++) {
      const before = name(all, bySession(all, `${i}`));
      if (before !== "asia") expect(name(rest, bySession(rest, `${i}`))).toBe(before);
    }
  });
});

describe("least used", () => {
  test("the endpoint with the most capacity is chosen, whatever the rotation", () => {
    for (let turn = 0; turn < 10; turn++) expect(leastUsed(used(0.5, 0.2, 0.9), turn)).toBe(1);
  });

  test("equal endpoints alternate", () => {
    const list = used(0.2, 0.2, 0.9, 0.2);
    expect([0, 1, 2, 3].map((turn) => leastUsed(list, turn))).toEqual([0, 1, 3, 3]);
  });
});

describe("round robin", () => {
  test("endpoints alternate, and one without capacity does not shift the rotation", () => {
    const all = ["a", "b", "c"];
    const turns = [0, 1, 2, 3, 4, 5];
    expect(turns.map((turn) => name(open("a", "b", "c"), roundRobin(open("a", "b", "c"), all, turn)))).toEqual([
      ..."abcabc",
    ]);
    expect(turns.map((turn) => name(open("a", "c"), roundRobin(open("a", "c"), all, turn)))).toEqual([..."accacc"]);
  });
});

describe("weighted", () => {
  test("each endpoint is chosen in proportion to its weight, over any stretch of calls", () => {
    const weights: Record<string, number> = { a: 5, b: 3, c: 2, d: 0 };
    const list = open("a", "b", "c", "d");
    for (const start of [0, 1_000, 123_456_789]) {
      const counts: Record<string, number> = { a: 0, b: 0, c: 0, d: 0 };
      for (let turn = start; turn < start + 1_000; turn++) {
        const chosen =
          name(
            list,
            weighted(list, (endpoint) => weights[endpoint] ?? 1, turn),
          ) ?? "";
        counts[chosen] = (counts[chosen] ?? 0) + 1;
      }
      for (const [endpoint, weight] of Object.entries(weights))
        expect(Math.abs((counts[endpoint] ?? 0) - weight * 100)).toBeLessThanOrEqual(5);
    }
  });

  test("endpoints without weights alternate", () => {
    expect([0, 1, 2, 3].map((turn) => weighted(open("a", "b"), () => 0, turn))).toEqual([0, 1, 0, 1]);
  });
});
