import { memoryBroker, memoryBus } from "@hivepace/bus";
import { afterEach, beforeEach, expect, test } from "vitest";
import { TestHives, watch } from "./support/hives.ts";

let hives: TestHives;
beforeEach(() => {
  hives = new TestHives();
});
afterEach(() => hives.close());

test("a call is retried while only time raises what may be tried after a measured cut", async () => {
  const hive = await hives.alone({
    endpoints: [{ id: "eu", rpmLimit: 5, inputTpmLimit: 100, maxInFlightPerProcess: 1 }],
  });
  const lease = await hive.acquire({ endpoint: "eu", tokens: 90 });
  const waiting = watch(hive.acquire({ endpoint: "eu", tokens: 90 }));
  lease.refused({ reason: "429" });
  await hives.clock.run(10 * 60_000);
  expect(waiting.lease).toBeDefined();
});

test("a call that this process also delays is served once an isolation without a share has ended", async () => {
  const broker = memoryBroker();
  const bus = await memoryBus(broker, { clock: hives.clock });
  const hive = await hives.alone({ bus, namespace: "test", isolation: "safe", endpoints: [{ id: "eu", rpmLimit: 1 }] });
  await hives.clock.run(3_000);
  hive.tryAcquire({ endpoint: "eu" }).lease?.done();
  broker.stop();
  await hives.clock.run(40_000);
  const waiting = watch(hive.acquire({ endpoint: "eu" }));
  await hives.clock.run(60_000);
  broker.start();
  await hives.clock.run(10 * 60_000);
  expect(waiting.lease).toBeDefined();
  await hive.close();
  await bus.close();
});
