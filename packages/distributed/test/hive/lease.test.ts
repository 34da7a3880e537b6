import { describe, expect, test } from "vitest";
import type { Hive } from "../../src/index.ts";
import { eachTest } from "../support/each-test.ts";

const world = eachTest();

const EU = { id: "eu", rpmLimit: 10, tpmLimit: 1_000 };

describe("a lease", () => {
  test("ends once, by the first call", async () => {
    const hive = await world.hives.alone({ endpoints: [EU] });
    const lease = await hive.acquire({ endpoint: "eu", tokens: 500 });
    lease.done({ tokens: 100 });
    lease.cancel();
    lease.refused({ reason: "429" });
    lease.done({ tokens: 900 });
    expect(hive.explain("eu")).toMatchObject({ level: 1, inFlight: 0 });
    expect(hive.explain("eu").limits.map(({ used }) => used)).toEqual([1, 100]);
    expect(hive.status().leases).toBe(0);
  });

  test("ends with its block", async () => {
    const hive = await world.hives.alone({ endpoints: [EU] });
    {
      using lease = await hive.acquire({ endpoint: "eu", tokens: 500 });
      expect(lease.endpoint).toBe("eu");
      expect(hive.status().leases).toBe(1);
    }
    expect(hive.status().leases).toBe(0);
    expect(hive.explain("eu").limits.map(({ used }) => used)).toEqual([1, 500]);
  });

  test("stays open when ended with invalid arguments, which throw", async () => {
    const hive = await world.hives.alone({ endpoints: [EU] });
    const lease = await hive.acquire({ endpoint: "eu", tokens: 500 });
    expect(() => lease.done({ tokens: Number.NaN })).toThrow(expect.objectContaining({ code: "INVALID_CONFIG" }));
    expect(hive.status().leases).toBe(1);
    lease.done({ tokens: 1 });
    expect(hive.explain("eu").limits.map(({ used }) => used)).toEqual([1, 1]);
  });

  test("that is never ended expires; a renewed one has its whole time again", async () => {
    const hive = await world.hives.alone({ endpoints: [{ id: "eu", maxInFlightPerProcess: 2 }], leaseMs: 10_000 });
    await hive.acquire({ endpoint: "eu" });
    const renewed = await hive.acquire({ endpoint: "eu" });
    await world.hives.clock.run(9_000);
    renewed.renew();
    await world.hives.clock.run(1_000);
    expect(hive.status().leases).toBe(1);
    await world.hives.clock.run(8_999);
    expect(hive.status().leases).toBe(1);
    await world.hives.clock.run(1);
    expect(hive.status().leases).toBe(0);
    expect(hive.explain("eu").inFlight).toBe(0);
    renewed.renew();
    expect(hive.status().leases).toBe(0);
  });

  test("a hundred thousand dropped leases all expire after their time", async () => {
    const hive = await world.hives.alone({
      endpoints: [{ id: "eu", maxInFlightPerProcess: 200_000 }],
      leaseMs: 900_000,
    });
    for (let i = 0; i < 100_000; i++) await hive.acquire({ endpoint: "eu" });
    expect(hive.explain("eu").inFlight).toBe(100_000);
    // One timer serves all leases.
    expect(world.hives.clock.pending).toBeLessThanOrEqual(2);
    await world.hives.clock.run(900_001);
    expect(hive.status().leases).toBe(0);
    expect(hive.explain("eu").inFlight).toBe(0);
    expect(world.hives.clock.pending).toBeLessThanOrEqual(1);
  });

  test("that was refused is refunded, and all agents learn of the refusal", async () => {
    const [first, second] = (await world.hives.swarm(2, { endpoints: [{ ...EU, rpmLimit: 100 }] })) as [Hive, Hive];
    const updates: string[] = [];
    second.onCapacityChange(({ resource, agentId, newCapacity, reason }) =>
      updates.push(`${resource} ${agentId} ${newCapacity} ${reason}`),
    );
    const lease = await first.acquire({ endpoint: "eu", tokens: 100 });
    lease.refused({ reason: "429 rate_limit_error", retryAfterMs: 3_000 });
    await world.hives.clock.run(200);
    expect(updates).toEqual(["eu hive-0 50 429 rate_limit_error"]);
    expect(second.explain("eu")).toMatchObject({
      level: 0.5,
      cause: { agentId: "hive-0", reason: "429 rate_limit_error" },
    });
    expect(second.explain("eu").pausedForMs).toBeGreaterThan(2_500);
    expect(second.explain("eu").text).toContain("cut to 50 %");
    expect(first.explain("eu").limits.map(({ used }) => used)).toEqual([0, 0]);
    expect(second.tryAcquire({ endpoint: "eu", tokens: 1 })).toMatchObject({
      allowed: false,
      limitedBy: "swarm-pause",
    });
    await world.hives.clock.run(3_000);
    expect(second.tryAcquire({ endpoint: "eu", tokens: 1 }).allowed).toBe(true);
  });

  test("that met an overload cuts nothing, and a single overload stops no agent", async () => {
    const hive = await world.hives.alone({ endpoints: [EU] });
    (await hive.acquire({ endpoint: "eu", tokens: 10 })).refused({
      reason: "529 overloaded",
      kind: "overload",
      retryAfterMs: 2_000,
    });
    expect(hive.explain("eu")).toMatchObject({ level: 1, pausedForMs: 0, availability: { state: "available" } });
    expect(hive.tryAcquire({ endpoint: "eu", tokens: 10 }).allowed).toBe(true);
  });
});
