import { expect, test } from "vitest";
import { endingOf } from "./outcome.ts";

const wanted = [
  { agentId: "loud", tokens: 1_000 },
  { agentId: "quiet", tokens: 30 },
  { agentId: "late", tokens: 10 },
];
const served = new Map([
  ["loud", { tokens: 500 }],
  ["quiet", { tokens: 30 }],
]);
const calm = { isReduced: false, isWhole: true };

test("with a noisy neighbour, the ending has the fraction of demand that the others got", () => {
  const plan = { pacing: "hive", scenario: { noisy: 0 } } as const;
  expect(endingOf(plan, { wanted, watch: calm }, served)).toEqual({
    isTogether: true,
    isRecovered: true,
    isWhole: true,
    othersServed: 0.75,
  });
  expect(endingOf(plan, { wanted: wanted.slice(0, 1), watch: calm }, served).othersServed).toBe(0);
});

test("without a noisy neighbour, the ending has only the state of the swarm", () => {
  const watch = { isReduced: true, isWhole: false };
  expect(endingOf({ pacing: "alone", scenario: {} }, { wanted, watch }, served)).toEqual({
    isTogether: false,
    isRecovered: false,
    isWhole: false,
  });
});
