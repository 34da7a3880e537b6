import { type ChannelListener, channel } from "node:diagnostics_channel";
import { afterEach, beforeEach, expect, test } from "vitest";
import { channelNames } from "./diagnostics.ts";
import { MemoryLimiter } from "./memory-limiter.ts";
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

test("every decision can be heard, with its reason", async () => {
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

  const api = { resource: "api", cost: 1 };
  expect(heard).toEqual([
    ["granted", { resource: "api", cost: 2 }],
    ["denied", { ...api, reason: "no-tokens" }],
    ["denied", { resource: "api", cost: 3, reason: "too-large" }],
    ["denied", { resource: "nobody", cost: 1, reason: "unknown" }],
    ["denied", { ...api, reason: "queue-full" }],
    ["denied", { ...api, reason: "others-wait" }],
    ["waited", { ...api, waitedMs: 0, outcome: "aborted" }],
    ["waited", { ...api, waitedMs: 500, outcome: "granted" }],
    ["granted", api],
    ["announced", { resource: "api", reason: "received 429", retryAfterMs: 1_000 }],
    ["waited", { ...api, waitedMs: 0, outcome: "closed" }],
    ["denied", { ...api, reason: "closed" }],
  ]);
});

test("a listener may use the limiter while it listens", async () => {
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
