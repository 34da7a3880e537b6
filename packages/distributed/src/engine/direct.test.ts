import { seededRandom } from "@hivepace/core/testing";
import { expect, test } from "vitest";
import { agentMode } from "./modes/mode-of.ts";
import { planTry, settleNow, step, takeNow } from "./step.ts";
import { quotaIn, testAgent, word } from "./test-agents.ts";

/** An agent of a swarm of two, at the end of its join phase. */
function memberOfTwo() {
  const agent = testAgent("a", { echoes: false });
  step(agent, { type: "start" }, 0);
  return agent;
}

test.each([1, 2, 3])("takeNow and settleNow do the same as the events, seed %i", (seed) => {
  const random = seededRandom(seed);
  const [byEvents, directly] = [memberOfTwo(), memberOfTwo()];
  const calls: { cost: number; sentAt: number }[] = [];
  let seq = 0;
  let [granted, denied, settled] = [0, 0, 0];
  for (let now = 0; now < 200_000; now += 60 * random()) {
    if (now > 500 * seq)
      for (const agent of [byEvents, directly]) {
        step(agent, { type: "receive", message: word("b", seq + 1) }, now);
        step(agent, { type: "wake" }, now);
      }
    seq = Math.ceil(now / 500);
    const call = random() < 0.4 ? calls.shift() : undefined;
    if (call) {
      const more = [Math.round(call.cost * (random() - 0.7))];
      const { sentAt } = call;
      step(byEvents, { type: "settle", quota: "p", more, sentAt }, now);
      settleNow(directly, quotaIn(directly), more, undefined, sentAt, now);
      planTry(directly, quotaIn(directly), now);
      settled++;
      continue;
    }
    const cost = Math.ceil(3 * random());
    const { taken } = step(byEvents, { type: "take", quota: "p", cost: [cost] }, now);
    expect(takeNow(directly, [{ quota: quotaIn(directly), cost: [cost] }], now)).toBe(taken);
    if (taken) calls.push({ cost, sentAt: now });
    if (taken) granted++;
    else denied++;
  }
  expect(agentMode(directly, 200_000)).toBe("member");
  expect(Math.min(granted, denied, settled)).toBeGreaterThan(100);
  expect(directly).toEqual(byEvents);
});
