import { isHivepaceError } from "@hivepace/core";
import { describe, expect, test } from "vitest";
import type { Hive } from "../../src/index.ts";
import { eachTest } from "../support/each-test.ts";
import { watch } from "../support/hives.ts";

const world = eachTest();

const EU = { id: "eu", rpmLimit: 10, tpmLimit: 1_000 };
const US = { id: "us", rpmLimit: 10, tpmLimit: 1_000 };

describe("reconfigure", () => {
  test("a window that comes back counts the usage that it has kept once", async () => {
    const hive = await world.hives.alone({ endpoints: [{ id: "eu", rpmLimit: 10 }] });
    hive.tryAcquire({ endpoint: "eu", tokens: 1 }).lease?.done();
    hive.reconfigure({ endpoints: [{ id: "eu", rpmLimit: 0.5 }] });
    hive.reconfigure({ endpoints: [{ id: "eu", rpmLimit: 10 }] });
    expect(hive.explain("eu").limits).toMatchObject([{ dimension: "requests", windowMs: 60_000, used: 1 }]);
  });

  test("limits rise and fall, and all counts are kept", async () => {
    const hive = await world.hives.alone({ endpoints: [EU] });
    for (let i = 0; i < 10; i++) await hive.acquire({ endpoint: "eu", tokens: 1 });
    const waiting = watch(hive.acquire({ endpoint: "eu", tokens: 1 }));
    await world.hives.clock.run(1);
    hive.reconfigure({ endpoints: [{ ...EU, rpmLimit: 12 }] });
    await world.hives.clock.run(1);
    expect(waiting.lease).toBeDefined();
    expect(hive.tryAcquire({ endpoint: "eu", tokens: 1 }).allowed).toBe(true);
    expect(hive.tryAcquire({ endpoint: "eu", tokens: 1 }).allowed).toBe(false);
    hive.reconfigure({ endpoints: [{ ...EU, rpmLimit: 5 }] });
    expect(hive.tryAcquire({ endpoint: "eu", tokens: 1 }).allowed).toBe(false);
    expect(hive.explain("eu").limits[0]).toMatchObject({ limit: 5, used: 12 });
  });

  test("endpoints and keys are added and removed; waiters of a removed one are rejected", async () => {
    const hive = await world.hives.alone({ endpoints: [{ ...EU, rpmLimit: 1 }, US] });
    await hive.acquire({ endpoint: "eu", tokens: 1 });
    const waiting = watch(hive.acquire({ endpoint: "eu", tokens: 1 }));
    await world.hives.clock.run(1);
    hive.reconfigure({ endpoints: [US, { id: "asia", rpmLimit: 1 }], keys: { acme: { rpmLimit: 1 } } });
    await world.hives.clock.run(1);
    expect(isHivepaceError(waiting.error, "RESOURCE_UNKNOWN")).toBe(true);
    await expect(hive.acquire({ endpoint: "eu", tokens: 1 })).rejects.toMatchObject({ code: "RESOURCE_UNKNOWN" });
    expect(hive.tryAcquire({ endpoint: "asia" }).allowed).toBe(true);
    expect(hive.tryAcquire({ endpoint: "us", key: "acme", tokens: 1 }).allowed).toBe(true);
    expect(hive.tryAcquire({ endpoint: "us", key: "acme", tokens: 1 })).toMatchObject({
      allowed: false,
      limitedBy: "key-rpm",
    });
    hive.reconfigure({ keys: {} });
    expect(hive.tryAcquire({ endpoint: "us", key: "acme", tokens: 1 }).allowed).toBe(true);
  });

  test("a claim on a removed endpoint delays no one else", async () => {
    const limit = { id: "eu", tpmLimit: 10_000 };
    const [first, second] = (await world.hives.swarm(2, { endpoints: [limit] })) as [Hive, Hive];
    (await second.acquire({ endpoint: "eu", tokens: 4_000 })).done();
    await world.hives.clock.run(1_000);
    const large = watch(first.acquire({ endpoint: "eu", tokens: 8_000 }));
    await world.hives.clock.run(1_000);
    expect(second.tryAcquire({ endpoint: "eu", tokens: 1_000 }).allowed).toBe(false);
    first.reconfigure({ endpoints: [US] });
    await world.hives.clock.run(3_000);
    expect(isHivepaceError(large.error, "RESOURCE_UNKNOWN")).toBe(true);
    expect(second.tryAcquire({ endpoint: "eu", tokens: 1_000 }).allowed).toBe(true);
  });

  test("an invalid option changes nothing", async () => {
    const hive = await world.hives.alone({ endpoints: [EU] });
    const before = hive.status().endpoints;
    expect(() => hive.reconfigure({ endpoints: [US, { id: "x", rpmLimit: -1 }] })).toThrow(
      expect.objectContaining({ code: "INVALID_CONFIG", option: "endpoints[1].rpmLimit" }),
    );
    expect(hive.status().endpoints).toEqual(before);
  });
});
