import { afterEach, beforeEach, expect, test } from "vitest";
import type { Hive } from "../src/index.ts";
import { TestHives, watch } from "./support/hives.ts";

let hives: TestHives;
beforeEach(() => {
  hives = new TestHives();
});
afterEach(() => hives.close());

test.each([
  ["requests and tokens", { rpmLimit: 30, tpmLimit: 1_000 }, { rpmLimit: 30, tpmLimit: 100 }],
  ["tokens alone", { tpmLimit: 1_000 }, { tpmLimit: 100 }],
])("a waiting call that a peer's smaller limit makes too large is rejected: %s", async (_, limits, less) => {
  const [first, second] = (await hives.swarm(2, { endpoints: [{ id: "eu", ...limits }] })) as [Hive, Hive];
  const large = watch(first.acquire({ endpoint: "eu", tokens: 800 }));
  await hives.clock.run(1_000);
  expect(large.lease).toBeDefined();
  const wait = watch(first.acquire({ endpoint: "eu", tokens: 400 }));
  await hives.clock.run(1_000);
  expect(wait).toEqual({ lease: undefined, error: undefined });
  second.reconfigure({ endpoints: [{ id: "eu", ...less }] });
  await hives.clock.run(5_000);
  expect(wait.error).toMatchObject({ code: "CAPACITY_EXHAUSTED", reason: "too-large" });
});
