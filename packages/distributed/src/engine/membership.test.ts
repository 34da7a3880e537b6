import fc from "fast-check";
import { expect, test } from "vitest";
import { budgetAfter } from "./isolation-budget.ts";
import { step } from "./step.ts";
import { quotaIn, testAgent, WINDOW_MS, word } from "./test-agents.ts";
import { UsageWindow } from "./usage-window.ts";

const STEP_MS = 200;
const STEPS = WINDOW_MS / STEP_MS;
const amounts = fc.array(fc.integer({ min: 0, max: 3 }), { minLength: STEPS, maxLength: STEPS });

/** An agent that has received a peer's reports of this usage for one window, and then nothing more. */
function bereft(used: readonly number[]) {
  const agent = testAgent();
  const own = new UsageWindow(1, WINDOW_MS);
  let sent = 0;
  used.forEach((amount, i) => {
    const now = (i + 1) * STEP_MS;
    own.add(now, [amount]);
    sent += amount;
    const said = { spentTotal: [sent], used: [...own.sum], bins: own.bins(now), demand: [500] };
    step(agent, { type: "receive", message: word("b", i + 1, {}, said) }, now);
  });
  // The test assumes exact clocks.
  quotaIn(agent).usage.swarm.retainMs = 0;
  return agent;
}

test("the reported usage of a silent agent and the capacity held for it add up to its agreed budget", () => {
  fc.assert(
    fc.property(amounts, (used) => {
      const agent = bereft(used);
      const quota = quotaIn(agent);
      let looks = 0;
      for (let now = WINDOW_MS + 50; now < 2 * WINDOW_MS; now += 50) {
        const { publish } = step(agent, { type: "wake" }, now);
        if (publish) step(agent, { type: "receive", message: publish }, now);
        const [peer] = agent.membership.peers.values();
        const kept = peer?.quotas.get("p")?.heldBudget;
        if (!kept) continue;
        looks++;
        quota.usage.swarm.expire(now);
        const agreed = budgetAfter(kept, agent.membership.sweptAt - WINDOW_MS, WINDOW_MS)[0] as number;
        const counted = (quota.usage.swarm.sum[0] as number) + (quota.isolation.heldForSilent[0] as number);
        expect(counted).toBeGreaterThanOrEqual(agreed - 1e-6);
      }
      expect(looks).toBeGreaterThan(1_000);
    }),
    { numRuns: 30 },
  );
});
