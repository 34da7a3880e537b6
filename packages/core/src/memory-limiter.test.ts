import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { MemoryLimiter } from "./memory-limiter.ts";
import type { CapacityUpdate } from "./rate-limiter.ts";
import { ManualClock } from "./testing/manual-clock.ts";

let clock: ManualClock;
let limiter: MemoryLimiter;

beforeEach(() => {
  clock = new ManualClock();
  limiter = new MemoryLimiter({ clock });
});

afterEach(async () => {
  await limiter.close();
  expect(clock.pending).toBe(0);
});

const take = (resource: string, times: number) => {
  let granted = 0;
  for (let i = 0; i < times; i++) if (limiter.tryAcquire(resource)) granted++;
  return granted;
};

describe("tryAcquire", () => {
  test("a resource starts full, grants its capacity, and then grants as it refills", () => {
    limiter.setCapacity("api", 60, 60_000);
    expect(take("api", 100)).toBe(60);
    clock.advance(2_500);
    expect(take("api", 100)).toBe(2);
    clock.advance(500);
    expect(take("api", 100)).toBe(1);
  });

  test("takes as many tokens as the request costs, or none", () => {
    limiter.setCapacity("api", 10, 1_000);
    expect(limiter.tryAcquire("api", 7)).toBe(true);
    expect(limiter.tryAcquire("api", 4)).toBe(false);
    expect(limiter.tryAcquire("api", 3)).toBe(true);
  });

  test("resources are independent of each other", () => {
    limiter.setCapacity("a", 1, 1_000);
    limiter.setCapacity("b", 1, 1_000);
    expect([limiter.tryAcquire("a"), limiter.tryAcquire("a"), limiter.tryAcquire("b")]).toEqual([true, false, true]);
  });

  test("a burst of 1 prevents the first window from passing twice the capacity", () => {
    limiter.setCapacity("full", 60, 60_000);
    limiter.setCapacity("even", 60, 60_000, { burst: 1 });
    let [full, even] = [0, 0];
    for (let now = 0; now < 60_000; now += 100, clock.advance(100)) {
      full += take("full", 100);
      even += take("even", 100);
    }
    expect([full, even]).toEqual([119, 60]);
  });
});

describe("in flight", () => {
  beforeEach(() => limiter.setCapacity("api", 5, 60_000));
  const state = () => {
    const { available, inFlight } = limiter.getCapacity("api") ?? {};
    return { available, inFlight };
  };

  test("release ends one request in flight and returns its token", () => {
    take("api", 3);
    limiter.release("api");
    expect(state()).toEqual({ available: 3, inFlight: 2 });
  });

  test("release returns the given number of tokens", () => {
    limiter.tryAcquire("api", 4);
    limiter.release("api", 4);
    expect(state()).toEqual({ available: 5, inFlight: 0 });
  });

  test("finish ends one request in flight and keeps its token spent", () => {
    take("api", 3);
    limiter.finish("api");
    expect(state()).toEqual({ available: 2, inFlight: 2 });
  });

  test("release into a full bucket ends the request and adds no token", () => {
    take("api", 1);
    clock.advance(60_000);
    limiter.release("api");
    expect(state()).toEqual({ available: 5, inFlight: 0 });
  });

  test("release and finish of an unknown resource do nothing", () => {
    limiter.release("nobody");
    limiter.finish("nobody");
    expect(limiter.getCapacity("nobody")).toBeUndefined();
  });

  test("the number in flight never goes below zero, and a release with none in flight adds no token", () => {
    limiter.tryAcquire("api");
    for (let i = 0; i < 3; i++) limiter.finish("api");
    for (let i = 0; i < 3; i++) limiter.release("api");
    expect(state()).toEqual({ available: 4, inFlight: 0 });
  });

  test("run ends its request and keeps the token spent, also when the work fails", async () => {
    expect(await limiter.run("api", async () => state().inFlight)).toBe(1);
    await expect(limiter.run("api", () => Promise.reject(new Error("boom")))).rejects.toThrow("boom");
    await expect(
      limiter.run("api", () => {
        throw new Error("at once");
      }),
    ).rejects.toThrow("at once");
    expect(state()).toEqual({ available: 2, inFlight: 0 });
  });

  test("run does not end a request of a resource that replaced its own", async () => {
    let finishWork = () => {};
    const running = limiter.run("api", () => new Promise<void>((resolve) => (finishWork = resolve)));
    await clock.run(0);
    limiter.removeResource("api");
    limiter.setCapacity("api", 5, 60_000);
    limiter.tryAcquire("api");
    finishWork();
    await running;
    expect(state()).toEqual({ available: 4, inFlight: 1 });
  });
});

describe("setCapacity", () => {
  test("a resize keeps spent tokens spent", () => {
    limiter.setCapacity("api", 10, 1_000);
    take("api", 8);
    limiter.setCapacity("api", 20, 1_000);
    expect(limiter.getCapacity("api")).toMatchObject({ available: 12, total: 20, inFlight: 8 });
    limiter.setCapacity("api", 5, 1_000);
    expect(limiter.getCapacity("api")).toMatchObject({ available: 0, total: 5 });
  });

  test.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY])("refuses %s and changes nothing", (bad) => {
    limiter.setCapacity("api", 10, 1_000);
    take("api", 4);
    expect(() => limiter.setCapacity("api", bad, 1_000)).toThrowError(
      expect.objectContaining({ code: "INVALID_CAPACITY", value: bad }),
    );
    expect(() => limiter.setCapacity("api", 10, bad)).toThrowError(
      expect.objectContaining({ code: "INVALID_WINDOW", value: bad }),
    );
    expect(() => limiter.setCapacity("new", bad, 1_000)).toThrowError(
      expect.objectContaining({ code: "INVALID_CAPACITY" }),
    );
    expect(limiter.getCapacity("api")).toMatchObject({ available: 6, total: 10, windowMs: 1_000 });
    expect(limiter.getCapacity("new")).toBeUndefined();
  });

  test.each(["", "__proto__", "constructor", "x".repeat(10_000_000), "日本\0"])(
    "any string is a name (case %#)",
    (name) => {
      expect(limiter.tryAcquire(name)).toBe(false);
      limiter.setCapacity(name, 1, 1_000);
      expect([limiter.tryAcquire(name), limiter.tryAcquire(name)]).toEqual([true, false]);
      expect(limiter.getCapacity(name)?.resource).toBe(name);
    },
  );

  test("only a string is a name", () => {
    expect(() => limiter.setCapacity(7 as unknown as string, 1, 1)).toThrowError(
      expect.objectContaining({ code: "INVALID_CONFIG", option: "resource" }),
    );
  });
});

describe("unknown resources", () => {
  test("acquire and run reject with RESOURCE_UNKNOWN, other calls return false or undefined", async () => {
    await expect(limiter.acquire("nobody")).rejects.toMatchObject({ code: "RESOURCE_UNKNOWN", resource: "nobody" });
    await expect(limiter.run("nobody", async () => 1)).rejects.toMatchObject({ code: "RESOURCE_UNKNOWN" });
    expect(limiter.tryAcquire("nobody")).toBe(false);
    expect(limiter.getCapacity("nobody")).toBeUndefined();
    expect(limiter.removeResource("nobody")).toBe(false);
  });

  test("a removed resource is unknown, and its waiters are rejected", async () => {
    limiter.setCapacity("api", 1, 1_000);
    limiter.tryAcquire("api");
    const waiting = limiter.acquire("api");
    expect(limiter.removeResource("api")).toBe(true);
    await expect(waiting).rejects.toMatchObject({ code: "RESOURCE_UNKNOWN" });
    expect(limiter.tryAcquire("api")).toBe(false);
    expect(clock.pending).toBe(0);
    limiter.setCapacity("api", 2, 1_000);
    limiter.tryAcquire("api");
    expect(limiter.getCapacity("api")).toMatchObject({ available: 1, inFlight: 1 });
  });
});

describe("invalid arguments are refused with the option, the rule and the value, and spend nothing", () => {
  const refused = (option: string, value: unknown) =>
    expect.objectContaining({ code: "INVALID_CONFIG", option, value, rule: expect.any(String) });

  test.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY, "1" as unknown as number])("cost %s", async (cost) => {
    limiter.setCapacity("api", 1, 1_000);
    expect(() => limiter.tryAcquire("api", cost)).toThrowError(refused("cost", cost));
    expect(() => limiter.release("api", cost)).toThrowError(refused("cost", cost));
    await expect(limiter.acquire("api", { cost })).rejects.toEqual(refused("cost", cost));
    expect(limiter.getCapacity("api")).toMatchObject({ available: 1, inFlight: 0 });
  });

  test.each([
    ["timeoutMs", -1],
    ["timeoutMs", Number.NaN],
    ["priority", Number.POSITIVE_INFINITY],
    ["priority", Number.NaN],
  ])("%s %s, although a token is available", async (option, value) => {
    limiter.setCapacity("api", 1, 1_000);
    await expect(limiter.acquire("api", { [option]: value })).rejects.toEqual(refused(option, value));
    expect(limiter.getCapacity("api")).toMatchObject({ available: 1, inFlight: 0 });
  });

  test.each([
    [{ maxQueue: -1 }, "maxQueue", -1],
    [{ maxQueue: 1.5 }, "maxQueue", 1.5],
    [{ sweepIntervalMs: 0 }, "sweepIntervalMs", 0],
    [{ capacityFor: 7 as unknown as () => undefined }, "capacityFor", 7],
  ])("of the limiter itself (case %#)", (options, option, value) => {
    expect(() => new MemoryLimiter(options)).toThrowError(refused(option, value));
  });
});

describe("onCapacityChange", () => {
  test("calls the listener for every limit that is set, until it unsubscribes", () => {
    const heard: CapacityUpdate[] = [];
    const stop = limiter.onCapacityChange((update) => heard.push(update));
    limiter.setCapacity("api", 10, 1_000);
    stop();
    limiter.setCapacity("api", 20, 1_000);
    expect(heard).toEqual([
      {
        resource: "api",
        agentId: "local",
        newCapacity: 10,
        reason: "configured",
        timestamp: new Date(clock.epochMs()),
      },
    ]);
  });

  test("a listener that throws is reported and does not affect the others", () => {
    const warned = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
    const heard: number[] = [];
    limiter.onCapacityChange(() => {
      throw new Error("mine");
    });
    limiter.onCapacityChange(({ newCapacity }) => heard.push(newCapacity));
    limiter.setCapacity("api", 10, 1_000);
    expect(heard).toEqual([10]);
    expect(warned).toHaveBeenCalledWith(
      "a listener threw: Error: mine",
      expect.objectContaining({ code: "HIVEPACE_LISTENER_THREW" }),
    );
    warned.mockRestore();
  });

  test("announceReduced changes nothing", () => {
    const heard = vi.fn();
    limiter.setCapacity("api", 10, 1_000);
    limiter.onCapacityChange(heard);
    limiter.announceReduced("api", "received 429");
    expect(heard).not.toHaveBeenCalled();
    expect(limiter.getCapacity("api")).toMatchObject({ available: 10, total: 10 });
  });
});

describe("close", () => {
  test("rejects a thousand waiters once each with LIMITER_CLOSED and leaves no timer", async () => {
    limiter.setCapacity("api", 1, 60_000);
    limiter.tryAcquire("api");
    const waits = Array.from({ length: 1_000 }, (_, i) => limiter.acquire("api", i % 2 ? { timeoutMs: 5_000 } : {}));
    expect(clock.pending).toBe(1);
    const ended = Promise.allSettled(waits);
    await limiter.close();
    const outcomes = await ended;
    expect(outcomes.filter((o) => o.status === "rejected" && o.reason.code === "LIMITER_CLOSED")).toHaveLength(1_000);
    expect(clock.pending).toBe(0);
  });

  test("is idempotent, and every later call reports that the limiter is closed", async () => {
    limiter.setCapacity("api", 10, 1_000);
    await Promise.all([limiter.close(), limiter.close()]);
    await limiter.close();
    expect(limiter.tryAcquire("api")).toBe(false);
    await expect(limiter.acquire("api")).rejects.toMatchObject({ code: "LIMITER_CLOSED" });
    await expect(limiter.run("api", async () => 1)).rejects.toMatchObject({ code: "LIMITER_CLOSED" });
    expect(() => limiter.setCapacity("api", 1, 1)).toThrowError(expect.objectContaining({ code: "LIMITER_CLOSED" }));
    expect(limiter.getCapacity("api")).toBeUndefined();
    limiter.release("api");
    limiter.finish("api");
  });

  test("`await using` closes", async () => {
    let waiting: Promise<void>;
    {
      await using scoped = new MemoryLimiter({ clock });
      scoped.setCapacity("api", 1, 60_000);
      scoped.tryAcquire("api");
      waiting = scoped.acquire("api");
      waiting.catch(() => {});
    }
    await expect(waiting).rejects.toMatchObject({ code: "LIMITER_CLOSED" });
  });
});

describe("resources created on demand", () => {
  const perUser = () =>
    new MemoryLimiter({
      clock,
      sweepIntervalMs: 10_000,
      capacityFor: (name) => (name.startsWith("user:") ? { capacity: 2, windowMs: 1_000 } : undefined),
    });

  test("have the limit that capacityFor returns, and are unknown when it returns undefined", async () => {
    limiter = perUser();
    expect(take("user:1", 5)).toBe(2);
    expect(limiter.tryAcquire("other")).toBe(false);
    await expect(limiter.acquire("other")).rejects.toMatchObject({ code: "RESOURCE_UNKNOWN" });
  });

  test("are forgotten only while they are full and unused", async () => {
    limiter = perUser();
    for (let i = 0; i < 10_000; i++) await limiter.run(`user:${i}`, async () => {});
    limiter.tryAcquire("user:busy");
    limiter.setCapacity("set", 1, 1_000);
    await clock.run(10_500);
    expect(limiter.getCapacity("user:1")).toBeUndefined();
    expect(limiter.getCapacity("user:9999")).toBeUndefined();
    expect(limiter.getCapacity("user:busy")).toMatchObject({ inFlight: 1 });
    expect(limiter.getCapacity("set")).toBeDefined();
  });

  test("a forgotten resource is created again on its next use, even if it was also the last one used", async () => {
    limiter = perUser();
    await limiter.run("user:1", async () => {});
    await clock.run(10_500);
    expect(limiter.getCapacity("user:1")).toBeUndefined();
    limiter.tryAcquire("user:1");
    expect(limiter.getCapacity("user:1")).toMatchObject({ available: 1, inFlight: 1 });
  });

  test("a resource whose limit is set later is kept, and its spent tokens stay spent", async () => {
    limiter = perUser();
    take("user:1", 2);
    limiter.finish("user:1");
    limiter.finish("user:1");
    limiter.setCapacity("user:1", 3, 1_000);
    expect(limiter.getCapacity("user:1")).toMatchObject({ available: 1 });
    await clock.run(60_000);
    expect(limiter.getCapacity("user:1")).toMatchObject({ available: 3 });
  });

  test("an invalid limit from capacityFor is an error that names the invalid value", async () => {
    limiter = new MemoryLimiter({ clock, capacityFor: () => ({ capacity: 0, windowMs: 1 }) });
    expect(() => limiter.tryAcquire("x")).toThrowError(expect.objectContaining({ code: "INVALID_CAPACITY" }));
    await expect(limiter.acquire("x")).rejects.toMatchObject({ code: "INVALID_CAPACITY" });
  });

  test("the sweep stops when no resource is left to forget", async () => {
    limiter = perUser();
    await limiter.run("user:1", async () => {});
    expect(clock.pending).toBe(1);
    await clock.run(30_000);
    expect(clock.pending).toBe(0);
  });
});
