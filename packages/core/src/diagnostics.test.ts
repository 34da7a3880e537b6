import { type ChannelListener, channel } from "node:diagnostics_channel";
import { afterEach, beforeEach, expect, test } from "vitest";
import { channelNames } from "./diagnostics.ts";
import { MemoryLimiter } from "./memory-limiter.ts";
import { RateManager } from "./rate/index.ts";
import { ManualClock } from "./testing/manual-clock.ts";

let heard: unknown[];
const listen: ChannelListener = (event, name) => heard.push([String(name).replace("hivepace:", ""), event]);

beforeEach(() => {
  heard = [];
  for (const name of Object.values(channelNames)) channel(name).subscribe(listen);
});

afterEach(() => {
  for (const name of Object.values(channelNames)) channel(name).unsubscribe(listen);
});

test("every decision of a limiter is published with its reason and limit", async () => {
  const clock = new ManualClock();
  const limiter = new MemoryLimiter({ clock, maxQueue: 2 });
  limiter.setCapacity("api", 2, 1_000);

  limiter.tryAcquire("api", 2);
  limiter.tryAcquire("api");
  limiter.tryAcquire("api", 3);
  limiter.tryAcquire("nobody");
  const aborting = new AbortController();
  const waits = [
    limiter.acquire("api"),
    limiter.acquire("api", { signal: aborting.signal }),
    limiter.acquire("api"),
  ].map((wait) => wait.catch(() => {}));
  limiter.tryAcquire("api");
  aborting.abort();
  await clock.run(500);
  limiter.announceReduced("api", "received 429", { retryAfterMs: 1_000 });
  const last = limiter.acquire("api").catch(() => {});
  await limiter.close();
  limiter.tryAcquire("api");
  await Promise.all([...waits, last]);

  const of = { source: "memory-limiter", resource: "api" };
  const one = { ...of, cost: 1 };
  const limitedBy = "capacity";
  const wait = expect.any(Object);
  expect(heard).toEqual([
    ["granted", { ...of, cost: 2 }],
    ["denied", { ...one, reason: "no-tokens", limitedBy }],
    ["denied", { ...of, cost: 3, reason: "too-large", limitedBy }],
    ["denied", { ...one, resource: "nobody", reason: "unknown", limitedBy: undefined }],
    ["waiting", { ...one, limitedBy, wait }],
    ["waiting", { ...one, limitedBy, wait }],
    ["denied", { ...one, reason: "queue-full", limitedBy }],
    ["denied", { ...one, reason: "others-wait", limitedBy }],
    ["waited", { ...one, limitedBy, wait, waitedMs: 0, outcome: "aborted" }],
    ["waited", { ...one, limitedBy, wait, waitedMs: 500, outcome: "granted" }],
    ["granted", one],
    ["announced", { ...of, reason: "received 429", retryAfterMs: 1_000 }],
    ["waiting", { ...one, limitedBy, wait }],
    ["waited", { ...one, limitedBy, wait, waitedMs: 0, outcome: "closed" }],
    ["denied", { ...one, reason: "closed", limitedBy: undefined }],
  ]);
});

test("the start and the end of a wait carry the same object", async () => {
  const clock = new ManualClock();
  const limiter = new MemoryLimiter({ clock });
  limiter.setCapacity("api", 1, 1_000);
  limiter.tryAcquire("api");
  const waits = [limiter.acquire("api"), limiter.acquire("api", { priority: 1 })];
  await clock.run(2_000);
  await Promise.all(waits);
  const of = (name: string) =>
    heard.flatMap((each) => {
      const [channelName, event] = each as [string, { wait: object }];
      return channelName === name ? [event.wait] : [];
    });
  const [first, second] = of("waiting");
  expect(first).not.toBe(second);
  // The second waiter has the higher priority.
  expect(of("waited")[0]).toBe(second);
  expect(of("waited")[1]).toBe(first);
  await limiter.close();
});

test("every decision of a manager is published with the limit that denied it", () => {
  const manager = new RateManager({ clock: new ManualClock() });
  manager.setEndpoint({ id: "eu", rpmLimit: 2, tpmLimit: 100 });
  manager.setEndpoint({ id: "eu", model: "large", rpmLimit: 1, maxInFlightPerProcess: 1 });
  manager.setKey("acme", { tpmLimit: 50 });
  manager.check({ endpoint: "eu", model: "whatever", tokens: 10 });
  manager.check({ endpoint: "eu", key: "acme", tokens: 51 });
  manager.handle({ endpoint: "eu" }).check(10);
  manager.handle({ endpoint: "eu" }).check(1);
  manager.check({ endpoint: "eu", model: "large", tokens: 1 });
  manager.setEndpoint({ id: "eu", model: "large", maxInFlightPerProcess: 1 });
  manager.check({ endpoint: "eu", model: "large", tokens: 1 });
  manager.peek({ endpoint: "eu", tokens: 1 });

  const eu = { source: "rate-manager", resource: "eu" };
  const large = { ...eu, model: "large" };
  expect(heard).toEqual([
    // A model without limits of its own may have any name, so the event leaves it out.
    ["granted", { ...eu, cost: 10 }],
    ["denied", { ...eu, cost: 51, reason: "too-large", limitedBy: "key-tpm" }],
    ["granted", { ...eu, cost: 10 }],
    ["denied", { ...eu, cost: 1, reason: "no-tokens", limitedBy: "endpoint-rpm" }],
    ["granted", { ...large, cost: 1 }],
    ["denied", { ...large, cost: 1, reason: "in-flight", limitedBy: "endpoint-in-flight" }],
  ]);
});

test("a manager with diagnostics: false publishes no events", () => {
  const manager = new RateManager({ clock: new ManualClock(), diagnostics: false });
  manager.setEndpoint({ id: "eu", rpmLimit: 1 });
  for (let i = 0; i < 2; i++) manager.check({ endpoint: "eu", tokens: 1 });
  expect(heard).toEqual([]);
  expect(() => new RateManager({ diagnostics: "no" as never })).toThrow(/diagnostics/);
});

test("the status of a limiter lists resources that were set, not those created on demand", async () => {
  const limiter = new MemoryLimiter({
    clock: new ManualClock(),
    capacityFor: () => ({ capacity: 5, windowMs: 1_000 }),
  });
  limiter.setCapacity("api", 2, 1_000);
  limiter.tryAcquire("api", 2);
  limiter.tryAcquire("anyone");
  const wait = limiter.acquire("api").catch(() => {});
  const api = { resource: "api", total: 2, available: 0, inFlight: 1, waiting: 1 };
  expect(limiter.status()).toEqual({ mode: "alone", resources: [api] });
  await limiter.close();
  await wait;
  expect(limiter.status()).toEqual({ mode: "closed", resources: [] });
});

test("a listener may call the limiter from within an event", async () => {
  const clock = new ManualClock();
  const limiter = new MemoryLimiter({ clock });
  limiter.setCapacity("api", 4, 1_000);
  limiter.tryAcquire("api", 4);
  const releaseOnGrant = () => limiter.release("api");
  channel(channelNames.granted).subscribe(releaseOnGrant);
  const waits = Promise.all([limiter.acquire("api"), limiter.acquire("api"), limiter.acquire("api")]);
  await clock.run(250);
  await waits;
  channel(channelNames.granted).unsubscribe(releaseOnGrant);
  expect(limiter.getCapacity("api")).toMatchObject({ inFlight: 1, available: 1 });
  await limiter.close();
});
