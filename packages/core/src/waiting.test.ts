import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { AbortSignalLike } from "./abort-signal.ts";
import { MemoryLimiter } from "./memory-limiter.ts";
import type { AcquireOptions } from "./rate-limiter.ts";
import { ManualClock } from "./testing/manual-clock.ts";

let clock: ManualClock;
let limiter: MemoryLimiter;
let log: string[];

/** Ten tokens a second, all spent: from here on, one token arrives every 100 ms. */
beforeEach(() => {
  clock = new ManualClock();
  limiter = new MemoryLimiter({ clock, maxQueue: 5 });
  log = [];
  limiter.setCapacity("api", 10, 1_000);
  limiter.tryAcquire("api", 10);
});

afterEach(async () => {
  await limiter.close();
  expect(clock.pending).toBe(0);
});

/** Logs when a wait ended and how. */
const wait = (name: string, options?: AcquireOptions) =>
  limiter.acquire("api", options).then(
    () => void log.push(`${name} at ${clock.now()}`),
    (error) => void log.push(`${name} ${error.reason ?? error.code ?? error} at ${clock.now()}`),
  );

describe("the queue", () => {
  test("waiters are served in order of arrival, each as soon as its tokens are available", async () => {
    for (const name of ["a", "b", "c"]) wait(name);
    await clock.run(1_000);
    expect(log).toEqual(["a at 100", "b at 200", "c at 300"]);
  });

  test("a large request at the head is not starved by small ones behind it", async () => {
    wait("large", { cost: 8 });
    wait("small");
    await clock.run(1_000);
    expect(log).toEqual(["large at 800", "small at 900"]);
  });

  test("tryAcquire does not overtake waiters, even when its token is available", async () => {
    wait("large", { cost: 8 });
    await clock.run(500);
    expect(limiter.getCapacity("api")?.available).toBe(5);
    expect(limiter.tryAcquire("api")).toBe(false);
    await clock.run(500);
    expect(log).toEqual(["large at 800"]);
  });

  test("any number of waiters shares one timer, and none remains without waiters", async () => {
    for (let i = 0; i < 5; i++) wait(`${i}`, { timeoutMs: 1_000 + i });
    expect(clock.pending).toBe(1);
    await clock.run(1_000);
    expect(clock.pending).toBe(0);
  });

  test("each grant counts as one request in flight", async () => {
    wait("a");
    await clock.run(100);
    expect(limiter.getCapacity("api")).toMatchObject({ inFlight: 2, available: 0 });
  });

  test("a wait of thirty days ends after thirty days", async () => {
    const month = 30 * 24 * 3_600_000;
    limiter.setCapacity("slow", 1, month);
    limiter.tryAcquire("slow");
    const waiting = limiter.acquire("slow").then(() => clock.now());
    await clock.run(month);
    expect(await waiting).toBe(month);
  });
});

describe("priorities", () => {
  test("higher priorities go first, lower ones last, equal ones in order of arrival", async () => {
    wait("normal 1");
    wait("low", { priority: -1 });
    wait("normal 2");
    wait("high", { priority: 1 });
    await clock.run(1_000);
    expect(log.map((line) => line.split(" at")[0])).toEqual(["high", "normal 1", "normal 2", "low"]);
  });

  test("a priority point is worth one second of waiting, so a longer wait still goes first", async () => {
    limiter.setCapacity("slow", 1, 5_000);
    limiter.tryAcquire("slow");
    const order: string[] = [];
    const line = (name: string, priority: number) =>
      limiter.acquire("slow", { priority }).then(() => void order.push(name));
    line("waited long", 0);
    await clock.run(2_500);
    line("urgent, too late to pass", 2);
    line("more urgent", 3);
    await clock.run(20_000);
    expect(order).toEqual(["more urgent", "waited long", "urgent, too late to pass"]);
  });
});

describe("abort", () => {
  const reason = "changed my mind";

  test("before the wait spends nothing, even when a token is available", async () => {
    limiter.setCapacity("free", 1, 1_000);
    await expect(limiter.acquire("free", { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect(limiter.getCapacity("free")).toMatchObject({ available: 1, inFlight: 0 });
  });

  test("of the first waiter takes effect at once, and the next one moves up", async () => {
    const controller = new AbortController();
    wait("large", { cost: 8, signal: controller.signal });
    wait("small");
    await clock.run(50);
    controller.abort(reason);
    await clock.run(50);
    expect(log).toEqual([`large ${reason} at 50`, "small at 100"]);
  });

  test("of the first waiter hands the tokens saved for it to the next one at once", async () => {
    const controller = new AbortController();
    wait("large", { cost: 8, signal: controller.signal });
    wait("small", { cost: 5 });
    await clock.run(600);
    controller.abort(reason);
    await clock.run(0);
    expect(log).toEqual([`large ${reason} at 600`, "small at 600"]);
  });

  test("of a waiter in the middle delays no other waiter", async () => {
    const controller = new AbortController();
    wait("a");
    wait("b", { signal: controller.signal });
    wait("c");
    controller.abort(reason);
    await clock.run(1_000);
    expect(log).toEqual([`b ${reason} at 0`, "a at 100", "c at 200"]);
  });

  test("after the grant changes nothing, and no listener remains on the signal", async () => {
    const { signal, listeners } = countingSignal();
    wait("a", { signal });
    expect(listeners()).toBe(1);
    await clock.run(100);
    expect(listeners()).toBe(0);
    expect(log).toEqual(["a at 100"]);
  });
});

describe("timeoutMs", () => {
  test("ends the wait with CAPACITY_EXHAUSTED, and the wait spends nothing", async () => {
    const waiting = limiter.acquire("api", { cost: 5, timeoutMs: 300 });
    const ended = expect(waiting).rejects.toMatchObject({
      code: "CAPACITY_EXHAUSTED",
      reason: "timeout",
      resource: "api",
      retryAfterMs: 200,
    });
    await clock.run(300);
    await ended;
    expect(limiter.getCapacity("api")).toMatchObject({ available: 3, inFlight: 1 });
  });

  test("ends the wait of a waiter that is not first in line", async () => {
    wait("large", { cost: 10 });
    wait("hurried", { timeoutMs: 300 });
    await clock.run(1_000);
    expect(log).toEqual(["hurried timeout at 300", "large at 1000"]);
  });

  test("a token that arrives exactly at the deadline is granted", async () => {
    wait("a", { timeoutMs: 100 });
    await clock.run(100);
    expect(log).toEqual(["a at 100"]);
  });

  test("0 never waits", async () => {
    await expect(limiter.acquire("api", { timeoutMs: 0 })).rejects.toMatchObject({
      reason: "timeout",
      retryAfterMs: 100,
    });
    limiter.setCapacity("free", 1, 1_000);
    await limiter.acquire("free", { timeoutMs: 0 });
  });

  test("a late timer grants tokens that arrived before the deadline and no others", async () => {
    wait("in time", { timeoutMs: 150 });
    wait("too late", { timeoutMs: 150 });
    clock.jump(5_000);
    await clock.run(0);
    expect(log).toEqual(["in time at 5000", "too late timeout at 5000"]);
  });

  test("a long stall grants at most one burst at once", async () => {
    limiter.setCapacity("api", 10, 1_000, { burst: 2 });
    for (let i = 0; i < 5; i++) wait(`${i}`);
    clock.jump(60_000);
    await clock.run(0);
    expect(log).toHaveLength(2);
  });
});

describe("maxQueue and costs that are too large", () => {
  test("a full queue refuses the next call at once, with the time of the next try", async () => {
    for (let i = 0; i < 5; i++) wait(`${i}`);
    await expect(limiter.acquire("api")).rejects.toMatchObject({
      code: "CAPACITY_EXHAUSTED",
      reason: "queue-full",
      retryAfterMs: 600,
    });
    await clock.run(100);
    wait("again");
    await expect(limiter.acquire("api", { cost: 2 })).rejects.toMatchObject({
      reason: "queue-full",
      retryAfterMs: 700,
    });
    await clock.run(1_000);
    expect(log.at(-1)).toBe("again at 600");
  });

  test("maxQueue 0 never waits", async () => {
    limiter = new MemoryLimiter({ clock, maxQueue: 0 });
    limiter.setCapacity("api", 1, 1_000);
    await limiter.acquire("api");
    await expect(limiter.acquire("api")).rejects.toMatchObject({ reason: "queue-full", retryAfterMs: 1_000 });
  });

  test("a cost above the capacity is refused at once", async () => {
    const refusal = limiter.acquire("api", { cost: 11 });
    await expect(refusal).rejects.toMatchObject({ reason: "too-large", retryAfterMs: undefined });
    limiter.setCapacity("burst", 100, 1_000, { burst: 5 });
    await expect(limiter.acquire("burst", { cost: 6 })).rejects.toMatchObject({ reason: "too-large" });
    expect(limiter.getCapacity("burst")).toMatchObject({ available: 5, inFlight: 0 });
  });
});

describe("a resize with waiters", () => {
  test("up grants the waiters that now fit and reschedules the rest", async () => {
    for (const name of ["a", "b", "c"]) wait(name);
    limiter.setCapacity("api", 12, 1_000);
    await clock.run(1_000);
    expect(log).toEqual(["a at 0", "b at 0", `c at ${1_000 / 12}`]);
  });

  test("down makes waiters wait longer", async () => {
    wait("a");
    limiter.setCapacity("api", 5, 1_000);
    await clock.run(5_000);
    expect(log).toEqual(["a at 1200"]);
  });

  test("down below a waiter's cost refuses that waiter at once and keeps the ones behind it", async () => {
    wait("large", { cost: 10 });
    wait("small");
    limiter.setCapacity("api", 9, 1_000);
    await clock.run(2_000);
    expect(log).toEqual(["large too-large at 0", `small at ${(1_000 / 9) * 2}`]);
  });
});

test("a released token goes to the first waiter at once", async () => {
  wait("a");
  wait("b");
  limiter.release("api");
  await clock.run(0);
  expect(log).toEqual(["a at 0"]);
});

test("a clock too coarse for a wait delays it slightly and never spins", async () => {
  const far = new ManualClock({ now: 1.7e12 });
  const coarse = new MemoryLimiter({ clock: far });
  coarse.setCapacity("api", 1_000_003, 60_000);
  coarse.tryAcquire("api", 1_000_003);
  const waiting = Promise.all(Array.from({ length: 50 }, () => coarse.acquire("api")));
  await far.run(5);
  await waiting;
});

/** Returns a signal that counts its listeners. */
function countingSignal() {
  const { signal } = new AbortController();
  const heard = new Set<unknown>();
  const counted: AbortSignalLike = {
    get aborted() {
      return signal.aborted;
    },
    get reason() {
      return signal.reason;
    },
    addEventListener(type, listener) {
      heard.add(listener);
      signal.addEventListener(type, listener);
    },
    removeEventListener(type, listener) {
      heard.delete(listener);
      signal.removeEventListener(type, listener);
    },
  };
  return { signal: counted, listeners: () => heard.size };
}
