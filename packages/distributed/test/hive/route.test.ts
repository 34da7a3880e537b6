import { describe, expect, test } from "vitest";
import { eachTest } from "../support/each-test.ts";
import { watch } from "../support/hives.ts";

const world = eachTest();

const EU = { id: "eu", rpmLimit: 10, tpmLimit: 1_000 };
const US = { id: "us", rpmLimit: 10, tpmLimit: 1_000 };

describe("a route", () => {
  test("goes to an endpoint with capacity, stays with its session, and avoids endpoints that refused", async () => {
    const hive = await world.hives.alone({ endpoints: [EU, US] });
    const ends = new Set<string>();
    for (let i = 0; i < 20; i++) ends.add((await hive.acquire({ route: ["eu", "us"], tokens: 1 })).endpoint);
    expect([...ends].sort()).toEqual(["eu", "us"]);
    expect(hive.tryAcquire({ route: ["eu", "us"], tokens: 1 }).allowed).toBe(false);
    await world.hives.clock.run(61_000);
    const session = { route: ["eu", "us"], tokens: 1, session: "s" };
    const { endpoint } = await hive.acquire(session);
    for (let i = 0; i < 5; i++) expect((await hive.acquire(session)).endpoint).toBe(endpoint);
    const lease = await hive.acquire(session);
    lease.refused({ reason: "429", retryAfterMs: 5_000 });
    const other = endpoint === "eu" ? "us" : "eu";
    expect((await hive.acquire(session)).endpoint).toBe(other);
    expect(hive.route({ candidates: ["eu", "us"], tokens: 1, session: "s" })).toMatchObject({
      endpoint: other,
      allowed: true,
    });
  });

  test("a waiter for one endpoint goes to the other when that has capacity first", async () => {
    const hive = await world.hives.alone({
      endpoints: [
        { id: "eu", maxInFlightPerProcess: 1 },
        { id: "us", maxInFlightPerProcess: 1 },
      ],
    });
    const held = [await hive.acquire({ endpoint: "eu" }), await hive.acquire({ endpoint: "us" })];
    const waiting = [1, 2].map(() => watch(hive.acquire({ route: ["eu", "us"] })));
    await world.hives.clock.run(10);
    for (const lease of held) lease.done();
    await world.hives.clock.run(2_000);
    expect(waiting.map(({ lease }) => lease?.endpoint).sort()).toEqual(["eu", "us"]);
  });
});
