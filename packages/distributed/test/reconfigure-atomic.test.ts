import { isHivepaceError } from "@hivepace/core";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Hive, HiveChanges } from "../src/index.ts";
import { TestHives, watch } from "./support/hives.ts";

let hives: TestHives;
beforeEach(() => {
  hives = new TestHives();
});
afterEach(async () => {
  await hives.close();
  expect(hives.clock.pending).toBe(0);
});

const EU = { id: "eu", rpmLimit: 10, tpmLimit: 1_000 };
const US = { id: "us", rpmLimit: 10 };
const LONG = "x".repeat(300);

const MISTAKES: readonly (readonly [name: string, changes: HiveChanges])[] = [
  ["an id that is too long to be shared", { endpoints: [US, { id: LONG, rpmLimit: 1 }] }],
  ["models that are too long together", { endpoints: [US, { id: "y", models: [LONG, `${LONG}2`], tpmLimit: 5 }] }],
  ["a negative limit", { endpoints: [US, { id: "z", rpmLimit: -1 }] }],
  ["a limit that is no number", { endpoints: [US, { id: "z", rpmLimit: "5" as unknown as number }] }],
  ["an endpoint without an id", { endpoints: [US, { rpmLimit: 1 } as never] }],
  ["endpoints that are no list", { endpoints: { eu: EU } as never }],
  ["a wrong limit of a key", { endpoints: [US], keys: { acme: { rpmLimit: Number.NaN } } }],
  ["keys that are no object", { endpoints: [US], keys: "acme" as never }],
  ["no object at all", undefined as never],
];

/** Everything that a program can observe of the configuration and the counts. */
function seen(hive: Hive): unknown {
  const known = ["eu", "us", "y", "z", LONG].map((endpoint) => {
    try {
      const { lease, ...decision } = hive.tryAcquire({ endpoint, tokens: 1 });
      lease?.cancel();
      return decision;
    } catch (error) {
      return isHivepaceError(error) && error.code;
    }
  });
  const routed = hive.route({ candidates: ["us", "eu"], tokens: 1 });
  const key = hive.tryAcquire({ endpoint: "eu", key: "acme", tokens: 1 });
  key.lease?.cancel();
  const { endpoints, waiting, leases } = hive.status();
  return { known, routed, key: { ...key, lease: undefined }, endpoints, waiting, leases };
}

describe("a change of the configuration that is rejected leaves everything as it was", () => {
  for (const [name, changes] of MISTAKES)
    test(name, async () => {
      const hive = await hives.alone({ endpoints: [EU], keys: { acme: { rpmLimit: 5 } } });
      hive.observe({
        endpoint: "eu",
        limits: { input_tokens: { limit: 5_000, remaining: 4_900, windowMs: 3_600_000 } },
      });
      await hive.acquire({ endpoint: "eu", tokens: 300 });
      const waiting = watch(hive.acquire({ endpoint: "eu", tokens: 800 }));
      await hives.clock.run(10);
      const before = seen(hive);
      expect(() => hive.reconfigure(changes)).toThrow(expect.objectContaining({ code: "INVALID_CONFIG" }));
      expect(seen(hive)).toEqual(before);
      await hives.clock.run(10);
      expect([waiting.lease, waiting.error]).toEqual([undefined, undefined]);
      await hives.clock.run(70_000);
      expect(waiting.lease?.endpoint).toBe("eu");
    });
});

test("an invalid option rejects before anything is begun", async () => {
  await expect(hives.alone({ endpoints: [EU, { id: LONG, rpmLimit: 1 }] })).rejects.toMatchObject({
    code: "INVALID_CONFIG",
    option: "endpoints",
  });
});
