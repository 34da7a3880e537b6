import { memorySyncStore, SyncMemory } from "@hivepace/core/testing";
import { expect, test } from "vitest";
import { TestHives, watch } from "../support/hives.ts";

test("a call that needs a rate and a slot of a store gets both", async () => {
  const hives = new TestHives();
  const sync = memorySyncStore({ memory: new SyncMemory(hives.clock) });
  const hive = await hives.alone({
    endpoints: [{ id: "us", rpmLimit: 1, maxInFlight: 1 }],
    sync,
    aggregation: "store",
  });
  const call = watch(hive.acquire({ endpoint: "us" }));
  await hives.clock.run(60_000);
  expect(call.lease).toBeDefined();
  await hives.close();
});
