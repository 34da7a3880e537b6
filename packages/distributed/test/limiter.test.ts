import { type ChannelListener, channel } from "node:diagnostics_channel";
import { channelNames } from "@hivepace/core";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { DistributedLimiter } from "../src/index.ts";
import { RESOURCE, type TestAgent, TestSwarm } from "./support/swarm.ts";

let swarm: TestSwarm;
beforeEach(() => {
  swarm = new TestSwarm();
});
afterEach(async () => {
  await swarm.close();
  expect(swarm.clock.pending).toBe(0);
});

/** The current outcome of a promise, without waiting for the promise. */
function watch(promise: Promise<unknown>): { outcome: unknown } {
  const seen: { outcome: unknown } = { outcome: "waits" };
  promise.then(
    () => {
      seen.outcome = "granted";
    },
    (error: { code?: string; reason?: string }) => {
      seen.outcome = error?.code ? (error.reason ?? error.code) : error;
    },
  );
  return seen;
}

describe.each(["fair", "none"] as const)("as any limiter (sharing: %s)", (sharing) => {
  let limiter: DistributedLimiter;
  beforeEach(async () => {
    [{ limiter }] = (await swarm.start(1, 10, 10_000, { sharing, maxQueue: 3 })) as [TestAgent];
  });

  test("tokens are granted until they are used up", () => {
    for (let i = 0; i < 10; i++) expect(limiter.tryAcquire(RESOURCE)).toBe(true);
    expect(limiter.tryAcquire(RESOURCE)).toBe(false);
    expect(limiter.getCapacity(RESOURCE)).toMatchObject({ available: 0, total: 10, inFlight: 10, windowMs: 10_000 });
  });

  test("waiters are served in order of arrival, without overtaking", async () => {
    limiter.tryAcquire(RESOURCE, 10);
    const order: number[] = [];
    for (const i of [1, 2, 3]) void limiter.acquire(RESOURCE).then(() => order.push(i));
    await swarm.clock.run(11_000);
    expect(order).toEqual([1, 2, 3]);
  });

  test("a higher priority goes first", async () => {
    limiter.tryAcquire(RESOURCE, 10);
    const order: string[] = [];
    void limiter.acquire(RESOURCE, { cost: 4 }).then(() => order.push("low"));
    void limiter.acquire(RESOURCE, { cost: 4, priority: 5 }).then(() => order.push("high"));
    await swarm.clock.run(21_000);
    expect(order).toEqual(["high", "low"]);
  });

  test("an aborted wait rejects with its reason, costs nothing and leaves even from the head", async () => {
    limiter.tryAcquire(RESOURCE, 10);
    const aborting = new AbortController();
    const first = watch(limiter.acquire(RESOURCE, { cost: 9, signal: aborting.signal }));
    const second = watch(limiter.acquire(RESOURCE));
    aborting.abort("enough");
    await swarm.clock.run(10_500);
    expect([first.outcome, second.outcome]).toEqual(["enough", "granted"]);
    const aborted = limiter.acquire(RESOURCE, { signal: AbortSignal.abort("before") });
    await expect(aborted).rejects.toBe("before");
  });

  test("a wait ends at its timeout, with the time of the next try", async () => {
    limiter.tryAcquire(RESOURCE, 10);
    const waiting = limiter.acquire(RESOURCE, { cost: 5, timeoutMs: 300 });
    const failed = expect(waiting).rejects.toMatchObject({ code: "CAPACITY_EXHAUSTED", reason: "timeout" });
    await swarm.clock.run(400);
    await failed;
    await expect(limiter.acquire(RESOURCE, { cost: 5, timeoutMs: 0 })).rejects.toMatchObject({
      reason: "timeout",
      retryAfterMs: expect.any(Number),
    });
  });

  test("a full queue admits no more waiters", async () => {
    limiter.tryAcquire(RESOURCE, 10);
    const waiting = [1, 2, 3].map(() => watch(limiter.acquire(RESOURCE)));
    await expect(limiter.acquire(RESOURCE)).rejects.toMatchObject({ reason: "queue-full" });
    await swarm.clock.run(15_000);
    expect(waiting.map(({ outcome }) => outcome)).toEqual(["granted", "granted", "granted"]);
  });

  test("a cost that can never be granted is refused at once", async () => {
    await expect(limiter.acquire(RESOURCE, { cost: 11 })).rejects.toMatchObject({
      reason: "too-large",
      retryAfterMs: undefined,
    });
    expect(limiter.tryAcquire(RESOURCE, 11)).toBe(false);
  });

  test("an unknown resource is an error for acquire alone", async () => {
    await expect(limiter.acquire("other")).rejects.toMatchObject({ code: "RESOURCE_UNKNOWN", resource: "other" });
    expect(limiter.tryAcquire("other")).toBe(false);
    expect(limiter.getCapacity("other")).toBeUndefined();
    expect(limiter.removeResource("other")).toBe(false);
    limiter.release("other");
    limiter.finish("other");
    limiter.announceReduced("other", "429");
  });

  test("run finishes what it began, also when the work fails", async () => {
    expect(await limiter.run(RESOURCE, async () => limiter.getCapacity(RESOURCE)?.inFlight)).toBe(1);
    await expect(limiter.run(RESOURCE, () => Promise.reject(new Error("work")))).rejects.toThrow("work");
    expect(limiter.getCapacity(RESOURCE)).toMatchObject({ inFlight: 0, available: 8 });
  });

  test("a removed resource rejects its waiters", async () => {
    limiter.tryAcquire(RESOURCE, 10);
    const waiting = watch(limiter.acquire(RESOURCE));
    expect(limiter.removeResource(RESOURCE)).toBe(true);
    await swarm.clock.run(1);
    expect(waiting.outcome).toBe("RESOURCE_UNKNOWN");
    expect(limiter.tryAcquire(RESOURCE)).toBe(false);
  });

  test("a larger capacity serves waiters, a smaller one rejects waiters too large for it", async () => {
    limiter.tryAcquire(RESOURCE, 10);
    const large = watch(limiter.acquire(RESOURCE, { cost: 8 }));
    const small = watch(limiter.acquire(RESOURCE, { cost: 3 }));
    limiter.setCapacity(RESOURCE, 5, 10_000);
    await swarm.clock.run(1);
    expect([large.outcome, small.outcome]).toEqual(["too-large", "waits"]);
    limiter.setCapacity(RESOURCE, 20, 10_000);
    await swarm.clock.run(1);
    expect(small.outcome).toBe("granted");
  });

  test("invalid limits and costs are refused by name", () => {
    for (const capacity of [0, -1, Number.NaN, Infinity])
      expect(() => limiter.setCapacity("x", capacity, 1_000)).toThrowError(
        expect.objectContaining({ code: "INVALID_CAPACITY", option: "capacity" }),
      );
    expect(() => limiter.setCapacity("x", 1, 0)).toThrowError(expect.objectContaining({ code: "INVALID_WINDOW" }));
    expect(() => limiter.setCapacity("x", 1, 1, { burst: 0 })).toThrowError(
      expect.objectContaining({ code: "INVALID_CAPACITY", option: "burst" }),
    );
    for (const name of ["", "x".repeat(257), 7 as unknown as string])
      expect(() => limiter.setCapacity(name, 1, 1)).toThrowError(expect.objectContaining({ option: "resource" }));
    expect(limiter.getCapacity("x")).toBeUndefined();
    expect(() => limiter.tryAcquire(RESOURCE, 0)).toThrowError(expect.objectContaining({ option: "cost" }));
    expect(() => limiter.announceReduced(RESOURCE, "429", { sentAgoMs: -1 })).toThrowError(
      expect.objectContaining({ option: "sentAgoMs" }),
    );
    expect(() => limiter.announceReduced(RESOURCE, 429 as unknown as string)).toThrowError(
      expect.objectContaining({ option: "reason" }),
    );
  });

  test("close rejects all waiters, may be called again, and leaves the bus open", async () => {
    limiter.tryAcquire(RESOURCE, 10);
    const waiting = watch(limiter.acquire(RESOURCE));
    await Promise.all([limiter.close(), limiter.close()]);
    expect(waiting.outcome).toBe("LIMITER_CLOSED");
    expect(limiter.tryAcquire(RESOURCE)).toBe(false);
    await expect(limiter.acquire(RESOURCE)).rejects.toMatchObject({ code: "LIMITER_CLOSED" });
    expect(() => limiter.setCapacity(RESOURCE, 1, 1)).toThrowError(expect.objectContaining({ code: "LIMITER_CLOSED" }));
    limiter.announceReduced(RESOURCE, "429");
    limiter.release(RESOURCE);
    expect(limiter.status()).toMatchObject({ mode: "closed", bus: "ready", resources: [] });
    expect(swarm.clock.pending).toBe(0);
    await limiter[Symbol.asyncDispose]();
  });

  test("a request during close is rejected with LIMITER_CLOSED", async () => {
    limiter.tryAcquire(RESOURCE, 10);
    const waiting = watch(limiter.acquire(RESOURCE));
    let again: { outcome: unknown } | undefined;
    const ask: ChannelListener = () => {
      again = watch(limiter.acquire(RESOURCE));
    };
    channel(channelNames.waited).subscribe(ask);
    await limiter.close();
    channel(channelNames.waited).unsubscribe(ask);
    await swarm.clock.run(1);
    expect([waiting.outcome, again?.outcome]).toEqual(["LIMITER_CLOSED", "LIMITER_CLOSED"]);
  });

  test("a removed listener is not called, and one that throws affects no other", () => {
    const heard: number[] = [];
    const stop = limiter.onCapacityChange(({ newCapacity }) => heard.push(newCapacity));
    limiter.setCapacity(RESOURCE, 20, 10_000);
    stop();
    limiter.setCapacity(RESOURCE, 30, 10_000);
    expect(heard).toEqual([20]);
  });
});

test("release returns a token only where the bucket is this agent's own", async () => {
  const [{ limiter: fair }] = (await swarm.start(1, 10)) as [TestAgent];
  const { limiter: none } = await swarm.join({ namespace: "another", sharing: "none" });
  none.setCapacity(RESOURCE, 10, 10_000);
  for (const limiter of [fair, none]) {
    for (let i = 0; i < 3; i++) expect(limiter.tryAcquire(RESOURCE)).toBe(true);
    limiter.release(RESOURCE);
  }
  expect(fair.getCapacity(RESOURCE)).toMatchObject({ inFlight: 2, available: 7 });
  expect(none.getCapacity(RESOURCE)).toMatchObject({ inFlight: 2, available: 8 });
});

test("burst limits the calls at once", async () => {
  const { limiter } = await swarm.join();
  limiter.setCapacity(RESOURCE, 100, 10_000, { burst: 5 });
  await swarm.clock.run(3_000);
  let granted = 0;
  while (limiter.tryAcquire(RESOURCE)) granted++;
  expect(granted).toBeGreaterThanOrEqual(5);
  expect(granted).toBeLessThanOrEqual(6);
  await swarm.clock.run(1_000);
  expect(limiter.tryAcquire(RESOURCE)).toBe(true);
});
