import fc from "fast-check";
import { expect, test } from "vitest";
import { keptAfter } from "./kept.ts";
import { step } from "./step.ts";
import { poolIn, testAgent, WINDOW_MS, word } from "./test-agents.ts";
import { UseWindow } from "./use-window.ts";

const STEP_MS = 200;
const STEPS = WINDOW_MS / STEP_MS;
const amounts = fc.array(fc.integer({ min: 0, max: 3 }), { minLength: STEPS, maxLength: STEPS });

/** An agent that has heard another say again and again what it had used, for a window, and then no more. */
function bereft(used: readonly number[]) {
  const agent = testAgent();
  const own = new UseWindow(1, WINDOW_MS);
  let sent = 0;
  used.forEach((amount, i) => {
    const now = (i + 1) * STEP_MS;
    own.add(now, [amount]);
    sent += amount;
    const said = { sent: [sent], used: [...own.sum], bins: own.bins(now), waiting: [500] };
    step(agent, { type: "hear", message: word("b", i + 1, {}, said) }, now);
  });
  // Here clocks are exact.
  poolIn(agent).used.lateMs = 0;
  return agent;
}

test("what a silent agent has said that it used, and what is kept free for it, is all that was agreed on", () => {
  fc.assert(
    fc.property(amounts, (used) => {
      const agent = bereft(used);
      const pool = poolIn(agent);
      let looks = 0;
      for (let now = WINDOW_MS + 50; now < 2 * WINDOW_MS; now += 50) {
        const { publish } = step(agent, { type: "wake" }, now);
        if (publish) step(agent, { type: "hear", message: publish }, now);
        const [peer] = agent.peers.values();
        const kept = peer?.pools.get("p")?.kept;
        if (!kept) continue;
        looks++;
        pool.used.expire(now);
        const agreed = keptAfter(kept, agent.sweptAt - WINDOW_MS, WINDOW_MS)[0] as number;
        const counted = (pool.used.sum[0] as number) + (pool.reserved[0] as number);
        expect(counted).toBeGreaterThanOrEqual(agreed - 1e-6);
      }
      expect(looks).toBeGreaterThan(1_000);
    }),
    { numRuns: 30 },
  );
});
