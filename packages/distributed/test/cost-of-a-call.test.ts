import { memoryBroker, memoryBus } from "@hivepace/bus";
import { ManualClock } from "@hivepace/core/testing";
import { expect, test, vi } from "vitest";
import { createHive } from "../src/index.ts";
import { CapacityWatch } from "../src/limiter/capacity-watch.ts";

/** A clock that counts how often it is read. */
class CountingClock extends ManualClock {
  reads = 0;

  override now(): number {
    this.reads++;
    return super.now();
  }
}

const ENDPOINTS = Array.from({ length: 50 }, (_, i) => ({ id: `e${i}`, rpmLimit: 1_000, tpmLimit: 100_000 }));
const REQUEST = { endpoint: "e0", key: "acme", tokens: 100 };

test("the decision on a call reads the clock once, and so does its end", async () => {
  const clock = new CountingClock();
  const hive = await createHive({ clock, endpoints: ENDPOINTS, limitsForKey: () => ({ tpmLimit: 50_000 }) });
  // The first call creates the key and arms the timer of the leases.
  hive.tryAcquire(REQUEST).lease?.done({ tokens: 50 });
  for (const used of [undefined, { tokens: 50 }, { tokens: 150 }]) {
    clock.reads = 0;
    const { lease } = hive.tryAcquire(REQUEST);
    expect(clock.reads).toBe(1);
    lease?.done(used);
    expect(clock.reads).toBe(2);
  }
  await hive.close();
});

test("a call does not look at the endpoints that it does not concern", async () => {
  const clock = new ManualClock();
  const hive = await createHive({ clock, bus: memoryBus(memoryBroker()), expectedAgents: 1, endpoints: ENDPOINTS });
  await clock.run(10_000);
  const look = vi.spyOn(CapacityWatch.prototype, "look");
  const { lease } = hive.tryAcquire({ endpoint: "e0", tokens: 100 });
  lease?.done({ tokens: 50 });
  expect(lease).toBeDefined();
  expect(look).not.toHaveBeenCalled();
  await clock.run(2_000);
  expect(look).toHaveBeenCalled();
  look.mockRestore();
  await hive.close();
});
