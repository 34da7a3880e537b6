import { afterEach, beforeEach, expect, test } from "vitest";
import { RESOURCE, TestSwarm } from "../support/swarm.ts";

const DAY_MS = 86_400_000;
/** The longest heartbeat, so that months of virtual time need few messages. */
const CALM = { heartbeatIntervalMs: 60_000 };

let swarm: TestSwarm;
beforeEach(() => {
  swarm = new TestSwarm();
});
afterEach(() => swarm.close());

test("months after the last refusal agents still understand each other, and one that joins learns the level", async () => {
  const agents = await swarm.start(2, 100, 10_000, CALM);
  await swarm.clock.run(10 * 60_000);
  agents[0]?.limiter.announceReduced(RESOURCE, "429");
  await swarm.clock.run(40 * DAY_MS);
  for (const { limiter } of agents) {
    expect(limiter.status()).toMatchObject({ mode: "member", members: 2, ignored: {} });
    expect(limiter.status().resources[0]).toMatchObject({ total: 100, cause: { reason: "429" } });
  }
  const { limiter } = await swarm.join(CALM);
  limiter.setCapacity(RESOURCE, 100, 10_000);
  await swarm.clock.run(10 * 60_000);
  expect(limiter.status()).toMatchObject({ mode: "member", members: 3, ignored: {} });
  const agoMs = limiter.status().resources[0]?.cause?.agoMs ?? 0;
  expect(agoMs).toBeGreaterThan(40 * DAY_MS);
});
