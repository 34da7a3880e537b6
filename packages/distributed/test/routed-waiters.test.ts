import { isHivepaceError, type Lease } from "@hivepace/core";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Hive, HiveRequest } from "../src/index.ts";
import { TestHives, watch } from "./support/hives.ts";
import { collectWarnings } from "./support/warnings.ts";

let hives: TestHives;
let warnings: ReturnType<typeof collectWarnings>;
beforeEach(() => {
  hives = new TestHives();
  warnings = collectWarnings();
});
afterEach(async () => {
  await hives.close();
  warnings.stop();
  expect(hives.clock.pending).toBe(0);
});

const ONE_AT_A_TIME = [
  { id: "eu", maxInFlightPerProcess: 1 },
  { id: "us", maxInFlightPerProcess: 1 },
];

describe("a routed waiter", () => {
  test("goes where the router prefers when several candidates have capacity at the same time", async () => {
    const endpoints = ["eu", "us"].map((id) => ({ id, rpmLimit: 100 }));
    const first = await hives.join({ endpoints });
    await hives.clock.run(3_000);
    for (let i = 0; i < 20; i++) (await first.acquire({ endpoint: "eu" })).done();
    // A newcomer joins before its first call, and then knows the usage of the first hive.
    const newcomer = await hives.join({ endpoints });
    const waiting = watch(newcomer.acquire({ route: ["eu", "us"] }));
    await hives.clock.run(5_000);
    expect(waiting.lease?.endpoint).toBe("us");
  });

  test("is served by the candidate that frees first, at once", async () => {
    for (const [first, other] of [
      ["eu", "us"],
      ["us", "eu"],
    ] as const) {
      const hive = await hives.alone({ endpoints: ONE_AT_A_TIME });
      const held = { eu: await hive.acquire({ endpoint: "eu" }), us: await hive.acquire({ endpoint: "us" }) };
      const waiting = watch(hive.acquire({ route: ["eu", "us"] }));
      await hives.clock.run(1);
      held[first].done();
      await hives.clock.run(0);
      expect(waiting.lease?.endpoint).toBe(first);
      expect([hive.explain(first).waiting, hive.explain(other).waiting, hive.status().waiting]).toEqual([0, 0, 0]);
      held[other].done();
      expect(hive.tryAcquire({ endpoint: other }).allowed).toBe(true);
    }
  });

  test("is served in the order of arrival among waiters for one of its endpoints only", async () => {
    const hive = await hives.alone({ endpoints: ONE_AT_A_TIME });
    let eu = await hive.acquire({ endpoint: "eu" });
    await hive.acquire({ endpoint: "us" });
    const order: string[] = [];
    const wait = (name: string, request: { endpoint?: string; route?: string[] }): void => {
      const granted = (lease: Lease): void => {
        order.push(name);
        eu = lease;
      };
      // Calls that still wait at the end are rejected when the hive is closed.
      hive.acquire(request as unknown as HiveRequest).then(granted, () => {});
    };
    wait("eu 1", { endpoint: "eu" });
    await hives.clock.run(10);
    wait("routed", { route: ["us", "eu"] });
    await hives.clock.run(10);
    for (let i = 2; i <= 20; i++) wait(`eu ${i}`, { endpoint: "eu" });
    await hives.clock.run(10);
    for (let i = 0; i < 4; i++) {
      eu.done();
      await hives.clock.run(10);
    }
    expect(order).toEqual(["eu 1", "routed", "eu 2", "eu 3"]);
  });

  test("withdraws its claims at the other candidates once it is granted", async () => {
    const endpoints = ["eu", "us"].map((id) => ({ id, tpmLimit: 1_000 }));
    const [hive, other] = (await hives.swarm(2, { endpoints })) as [Hive, Hive];
    const held = ["eu", "us"].map((endpoint) => watch(hive.acquire({ endpoint, tokens: 900 })));
    await hives.clock.run(2_000);
    const waiting = watch(hive.acquire({ route: ["eu", "us"], tokens: 500 }));
    await hives.clock.run(5_000);
    expect(waiting.lease).toBeUndefined();
    held[0]?.lease?.cancel();
    await hives.clock.run(5_000);
    expect(waiting.lease?.endpoint).toBe("eu");
    await hives.clock.run(50_000);
    const next = watch(other.acquire({ endpoint: "us", tokens: 900 }));
    await hives.clock.run(2_000);
    expect(next.lease).toBeDefined();
    expect(other.explain("us").limits.find(({ dimension }) => dimension === "tokens")?.used).toBe(900);
  });

  test("leaves all queues when it is aborted or timed out", async () => {
    const hive = await hives.alone({ endpoints: ONE_AT_A_TIME });
    await hive.acquire({ endpoint: "eu" });
    await hive.acquire({ endpoint: "us" });
    const abort = new AbortController();
    const aborted = watch(hive.acquire({ route: ["eu", "us"], signal: abort.signal }));
    const late = watch(hive.acquire({ route: ["eu", "us"], timeoutMs: 1_000 }));
    await hives.clock.run(10);
    expect([hive.explain("eu").waiting, hive.explain("us").waiting, hive.status().waiting]).toEqual([2, 2, 2]);
    abort.abort(new Error("enough"));
    await hives.clock.run(1_000);
    expect(aborted.error).toMatchObject({ message: "enough" });
    expect(late.error).toMatchObject({ code: "CAPACITY_EXHAUSTED", reason: "timeout" });
    expect([hive.explain("eu").waiting, hive.explain("us").waiting, hive.status().waiting]).toEqual([0, 0, 0]);
  });

  test("stays when one of its endpoints is removed, and is rejected with the last of them", async () => {
    const hive = await hives.alone({ endpoints: ONE_AT_A_TIME });
    await hive.acquire({ endpoint: "eu" });
    const us = await hive.acquire({ endpoint: "us" });
    const routed = watch(hive.acquire({ route: ["eu", "us"] }));
    const last = watch(hive.acquire({ route: ["eu", "us"] }));
    const single = watch(hive.acquire({ endpoint: "eu" }));
    await hives.clock.run(10);
    hive.reconfigure({ endpoints: [{ id: "us", maxInFlightPerProcess: 1 }] });
    await hives.clock.run(10);
    expect(isHivepaceError(single.error, "RESOURCE_UNKNOWN")).toBe(true);
    expect([routed.error, last.error]).toEqual([undefined, undefined]);
    us.done();
    await hives.clock.run(10);
    expect(routed.lease?.endpoint).toBe("us");
    hive.reconfigure({ endpoints: [{ id: "asia", maxInFlightPerProcess: 1 }] });
    await hives.clock.run(10);
    expect(isHivepaceError(last.error, "RESOURCE_UNKNOWN")).toBe(true);
  });

  test("is served by an endpoint of its route that is added while it waits", async () => {
    const hive = await hives.alone({ endpoints: [{ id: "eu", maxInFlightPerProcess: 1 }] });
    await hive.acquire({ endpoint: "eu" });
    const routed = watch(hive.acquire({ route: ["eu", "us"] }));
    await hives.clock.run(10);
    hive.reconfigure({ endpoints: ONE_AT_A_TIME });
    await hives.clock.run(10);
    expect(routed.lease?.endpoint).toBe("us");
  });

  test("waits where it fits when it is too large for another candidate", async () => {
    const hive = await hives.alone({ endpoints: [{ id: "small" }, { id: "large", tpmLimit: 1_000 }] });
    hive.observe({ endpoint: "small", limits: { tokens: { limit: 100, remaining: 100 } } });
    const held = await hive.acquire({ endpoint: "large", tokens: 900 });
    const waits = [];
    for (const route of [
      ["small", "large"],
      ["large", "small"],
    ]) {
      const waiting = watch(hive.acquire({ route, tokens: 500 }));
      await hives.clock.run(10);
      expect(waiting.error).toBeUndefined();
      expect(hive.tryAcquire({ route, tokens: 500 })).toMatchObject({ endpoint: "large", reason: "rate" });
      waits.push(waiting);
    }
    await expect(hive.acquire({ route: ["small", "large"], tokens: 5_000 })).rejects.toMatchObject({
      reason: "too-large",
    });
    held.cancel();
    await hives.clock.run(10);
    expect(waits.map(({ lease }) => lease?.endpoint)).toEqual(["large", "large"]);
  });

  test("stays when it becomes too large for one candidate, and is rejected when it is for all", async () => {
    const limits = (eu: number, us: number) => [
      { id: "eu", tpmLimit: eu },
      { id: "us", tpmLimit: us },
    ];
    const hive = await hives.alone({ endpoints: limits(1_000, 1_000) });
    for (const endpoint of ["eu", "us"]) await hive.acquire({ endpoint, tokens: 900 });
    const waiting = watch(hive.acquire({ route: ["eu", "us"], tokens: 500 }));
    await hives.clock.run(10);
    hive.reconfigure({ endpoints: limits(100, 1_000) });
    await hives.clock.run(10);
    expect([waiting.error, hive.status().waiting]).toEqual([undefined, 1]);
    hive.reconfigure({ endpoints: limits(100, 200) });
    await hives.clock.run(10);
    expect(waiting.error).toMatchObject({ code: "CAPACITY_EXHAUSTED", reason: "too-large" });
  });
});

describe("a route with unknown ids", () => {
  test("works with those that are known, and warns once for each that is not", async () => {
    const hive = await hives.alone({ endpoints: [{ id: "eu", rpmLimit: 10 }] });
    for (let i = 0; i < 3; i++) {
      expect((await hive.acquire({ route: ["gone", "eu"] })).endpoint).toBe("eu");
      expect(hive.tryAcquire({ route: ["eu", "gone"] }).endpoint).toBe("eu");
      expect(hive.route({ candidates: ["gone", "eu"], tokens: 0 }).endpoint).toBe("eu");
    }
    await hives.clock.run(1);
    expect(warnings.codes.filter((code) => code === "HIVEPACE_UNKNOWN_ENDPOINT")).toHaveLength(1);
  });

  test("is rejected when none is known, with an error that names the known ones", async () => {
    const hive = await hives.alone({ endpoints: [{ id: "eu", rpmLimit: 10 }, { id: "us" }] });
    const error = { code: "RESOURCE_UNKNOWN", message: expect.stringMatching(/"gone", "lost".*"eu", "us"/) };
    await expect(hive.acquire({ route: ["gone", "lost"] })).rejects.toMatchObject(error);
    expect(() => hive.tryAcquire({ route: ["gone", "lost"] })).toThrow(expect.objectContaining(error));
    expect(() => hive.route({ candidates: ["gone", "lost"], tokens: 0 })).toThrow(expect.objectContaining(error));
    await expect(hive.acquire({ endpoint: "gone" })).rejects.toThrow(/"gone".*"eu", "us"/);
  });
});

describe("maxQueue", () => {
  test("applies to each endpoint separately", async () => {
    const hive = await hives.alone({ endpoints: ONE_AT_A_TIME, maxQueue: 2 });
    const wait = (endpoint: string) => watch(hive.acquire({ endpoint }));
    const full = { code: "CAPACITY_EXHAUSTED", reason: "queue-full" };
    for (const endpoint of ["eu", "us"]) {
      await hive.acquire({ endpoint });
      const waits = [wait(endpoint), wait(endpoint), wait(endpoint)];
      await hives.clock.run(1);
      expect(waits.map(({ error }) => error)).toMatchObject([undefined, undefined, full]);
    }
    expect(hive.status().waiting).toBe(4);
  });

  test("refuses a routed request when all its candidates are full, and not before", async () => {
    const hive = await hives.alone({ endpoints: ONE_AT_A_TIME, maxQueue: 1 });
    for (const endpoint of ["eu", "us"]) await hive.acquire({ endpoint });
    watch(hive.acquire({ endpoint: "eu" }));
    const accepted = watch(hive.acquire({ route: ["eu", "us"] }));
    const refused = watch(hive.acquire({ route: ["eu", "us"] }));
    await hives.clock.run(1);
    expect(accepted.error).toBeUndefined();
    expect(refused.error).toMatchObject({ reason: "queue-full" });
  });
});

describe("a waiter whose model gets or loses limits of its own", () => {
  test("moves to the line where its calls are counted from then on", async () => {
    const whole = { id: "eu", maxInFlightPerProcess: 1 };
    const hive = await hives.alone({ endpoints: [whole] });
    const held = await hive.acquire({ endpoint: "eu", model: "m" });
    const waiting = watch(hive.acquire({ endpoint: "eu", model: "m" }));
    const second = watch(hive.acquire({ endpoint: "eu", model: "m" }));
    await hives.clock.run(1);
    hive.reconfigure({ endpoints: [whole, { id: "eu", model: "m", maxInFlightPerProcess: 1 }] });
    await hives.clock.run(1);
    expect(waiting.lease).toBeDefined();
    expect([hive.explain("eu").waiting, hive.explain("eu", "m").waiting]).toEqual([0, 1]);
    hive.reconfigure({ endpoints: [whole] });
    await hives.clock.run(1);
    expect(second.error).toBeUndefined();
    held.done();
    await hives.clock.run(1);
    expect(second.lease).toBeDefined();
  });
});
