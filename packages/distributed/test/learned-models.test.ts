import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Hive } from "../src/index.ts";
import { callOn, TestHives, watch } from "./support/hives.ts";

const MINUTE_MS = 60_000;

let hives: TestHives;
beforeEach(() => {
  hives = new TestHives();
});
afterEach(() => hives.close());

/** Lets the hive observe an answer that shows a model's token limit. */
const show = (hive: Hive, model: string, limit: number, remaining = limit) =>
  hive.observe({ endpoint: "api", model, limits: { tokens: { limit, remaining } } });

const ask = (model: string, tokens: number) => ({ endpoint: "api", model, tokens });

/** The largest number of tokens sent in any minute. */
function largest(sent: readonly { readonly at: number; readonly tokens: number }[]): number {
  const sums = sent.map(({ at }) =>
    sent.reduce((sum, each) => (each.at <= at && each.at > at - MINUTE_MS ? sum + each.tokens : sum), 0),
  );
  return Math.max(0, ...sums);
}

describe("limits that answers show for one model", () => {
  test("hold for this model and no other", async () => {
    const hive = await hives.alone({ endpoints: [{ id: "api" }] });
    show(hive, "small", 1_000);
    expect(hive.tryAcquire(ask("large", 50_000)).allowed).toBe(true);
    expect(hive.tryAcquire({ endpoint: "api", tokens: 50_000 }).allowed).toBe(true);
    await expect(hive.acquire(ask("small", 2_000))).rejects.toMatchObject({ reason: "too-large" });
    expect(hive.tryAcquire(ask("small", 900)).allowed).toBe(true);
    expect(hive.tryAcquire(ask("small", 900))).toMatchObject({
      allowed: false,
      limitedBy: "swarm-tpm",
      reason: "rate",
    });
  });

  test("are shown for the model, and the endpoint has none", async () => {
    const hive = await hives.alone({ endpoints: [{ id: "api" }] });
    show(hive, "small", 1_000);
    hive.tryAcquire(ask("small", 300)).lease?.done();
    expect(hive.explain("api").limits).toEqual([]);
    expect(hive.explain("api", "large").limits).toEqual([]);
    const limits = [{ dimension: "tokens", limit: 1_000, isLearned: true, used: 300, usedHere: 300 }];
    expect(hive.explain("api", "small")).toMatchObject({ model: "small", limits });
    expect(hive.status().endpoints.map(({ model }) => model)).toEqual([undefined, "small"]);
  });

  test("count the earlier usage of the model", async () => {
    const hive = await hives.alone({ endpoints: [{ id: "api" }] });
    const [before, underWay] = [hive.tryAcquire(ask("small", 300)), hive.tryAcquire(ask("small", 500))];
    hive.tryAcquire(ask("large", 10_000)).lease?.done();
    before.lease?.done();
    show(hive, "small", 1_000);
    expect(hive.explain("api", "small").limits[0]?.used).toBe(800);
    underWay.lease?.done({ tokens: 100 });
    expect(hive.explain("api", "small").limits[0]?.used).toBe(400);
  });

  test("start with the age of the endpoint's usage, so that the first answer does not stop the model for a window", async () => {
    const swarm = await hives.swarm(3, { endpoints: [{ id: "api", rpmLimit: 60 }] });
    const [first] = swarm as [Hive];
    for (let i = 0; i < 45; i++) {
      swarm[i % 3]?.tryAcquire(ask("small", 1)).lease?.done();
      await hives.clock.run(1_000);
    }
    // The provider has counted 45 requests, and more than its lower limit of 30 cannot be shown.
    const limits = { requests: { limit: 30, remaining: 0 } };
    for (const hive of swarm) hive.observe({ endpoint: "api", model: "small", limits });
    const waits = Array.from({ length: 12 }, () => watch(first.acquire(ask("small", 1))));
    const granted = () => waits.filter(({ lease }) => lease).length;
    // After 15 s the first request leaves the window; the 17th, from which on there is room, 16 s later.
    await hives.clock.run(28_000);
    expect(granted()).toBe(0);
    await hives.clock.run(14_000);
    expect(granted()).toBeGreaterThanOrEqual(6);
    await hives.clock.run(10_000);
    expect(granted()).toBe(12);
  });

  test("apply together with limits of the whole endpoint", async () => {
    const hive = await hives.alone({ endpoints: [{ id: "api", rpmLimit: 10 }] });
    show(hive, "small", 1_000);
    const small = watch(hive.acquire(ask("small", 900)));
    const next = watch(hive.acquire(ask("small", 900)));
    await hives.clock.run(100);
    expect([small.lease !== undefined, next.lease]).toEqual([true, undefined]);
    // A model without remaining tokens blocks no other model, and all models share one request limit.
    for (let i = 0; i < 9; i++) expect(hive.tryAcquire(ask("large", 1)).allowed).toBe(true);
    expect(hive.tryAcquire(ask("large", 1))).toMatchObject({ allowed: false, reason: "rate" });
    expect(next.lease).toBeUndefined();
    await hives.clock.run(2 * MINUTE_MS);
    expect(next.lease).toBeDefined();
  });

  test("count beside the endpoint's own where they are lower", async () => {
    const hive = await hives.alone({ endpoints: [{ id: "api", tpmLimit: 5_000 }] });
    show(hive, "small", 1_000);
    show(hive, "large", 9_000);
    expect(hive.tryAcquire(ask("small", 1_001))).toMatchObject({ allowed: false, reason: "too-large" });
    expect(hive.tryAcquire(ask("large", 4_000)).allowed).toBe(true);
    expect(hive.tryAcquire(ask("large", 5_001))).toMatchObject({ allowed: false, reason: "too-large" });
  });

  test("admit a waiter from before they were known", async () => {
    const hive = await hives.alone({ endpoints: [{ id: "api", rpmLimit: 1 }] });
    hive.tryAcquire(ask("large", 1)).lease?.done();
    const wait = watch(hive.acquire(ask("small", 500)));
    show(hive, "small", 1_000);
    await hives.clock.run(2 * MINUTE_MS);
    expect(wait.lease).toBeDefined();
  });

  test("reject a waiter that becomes too large", async () => {
    const hive = await hives.alone({ endpoints: [{ id: "api", rpmLimit: 1 }] });
    hive.tryAcquire(ask("large", 1)).lease?.done();
    const wait = watch(hive.acquire(ask("small", 5_000)));
    show(hive, "small", 1_000);
    await hives.clock.run(1_000);
    expect(wait.error).toMatchObject({ code: "CAPACITY_EXHAUSTED", reason: "too-large" });
  });

  test("are cut by a refusal of this model alone", async () => {
    const hive = await hives.alone({ endpoints: [{ id: "api" }] });
    show(hive, "small", 1_000);
    show(hive, "large", 1_000);
    hive.tryAcquire(ask("small", 10)).lease?.refused({ reason: "429" });
    expect([hive.explain("api", "small").level, hive.explain("api", "large").level]).toEqual([0.5, 1]);
    hive.announceReduced("api", "429", { model: "large" });
    expect(hive.explain("api", "large").level).toBe(0.5);
  });

  test("become the model's own limits when it is configured, with its usage", async () => {
    const hive = await hives.alone({ endpoints: [{ id: "api" }] });
    show(hive, "small", 1_000);
    hive.tryAcquire(ask("small", 600)).lease?.done();
    hive.reconfigure({ endpoints: [{ id: "api" }, { id: "api", model: "small", tpmLimit: 800 }] });
    expect(hive.explain("api", "small").limits).toMatchObject([{ dimension: "tokens", limit: 800, used: 600 }]);
    expect(hive.tryAcquire(ask("small", 300)).allowed).toBe(false);
  });

  test.each([
    ["the tightest of them holds", {}, 800],
    ["a configured limit holds instead", { tpmLimit: 700 }, 700],
  ])("become those of a pool that is configured, with the usage of its models: %s", async (_rule, own, limit) => {
    const hive = await hives.alone({ endpoints: [{ id: "api" }] });
    show(hive, "small", 1_000);
    show(hive, "large", 800);
    for (const [model, tokens] of [
      ["small", 300],
      ["large", 150],
      // No answer has told a limit of this model.
      ["other", 50],
    ] as const)
      hive.tryAcquire(ask(model, tokens)).lease?.done();
    const underway = hive.tryAcquire(ask("small", 100)).lease;
    hive.reconfigure({ endpoints: [{ id: "api" }, { id: "api", models: ["small", "large", "other"], ...own }] });
    expect(hive.explain("api", "small").limits).toMatchObject([{ dimension: "tokens", limit, used: 600 }]);
    expect(hive.tryAcquire(ask("large", limit - 599)).allowed).toBe(false);
    underway?.done({ tokens: 100 });
    expect(hive.tryAcquire(ask("other", limit - 600)).allowed).toBe(true);
    expect(hive.tryAcquire(ask("small", 1)).allowed).toBe(false);
    await hives.clock.run(2 * MINUTE_MS);
    expect(hive.tryAcquire(ask("small", limit)).allowed).toBe(true);
  });

  test("of a pool serve a call that waited for one of its models", async () => {
    const hive = await hives.alone({ endpoints: [{ id: "api" }] });
    show(hive, "small", 1_000);
    hive.tryAcquire(ask("small", 900)).lease?.done();
    const wait = watch(hive.acquire(ask("small", 200)));
    hive.reconfigure({ endpoints: [{ id: "api" }, { id: "api", models: ["small", "large"], tpmLimit: 5_000 }] });
    await hives.clock.run(0);
    expect(wait.lease).toBeDefined();
  });

  test("are forgotten with their endpoint, and nothing is left behind", async () => {
    const hive = await hives.alone({ endpoints: [{ id: "api" }, { id: "other" }] });
    show(hive, "small", 1_000);
    hive.tryAcquire(ask("small", 1_000)).lease?.done();
    const wait = watch(hive.acquire(ask("small", 500)));
    hive.reconfigure({ endpoints: [{ id: "other" }] });
    await hives.clock.run(0);
    expect(wait.error).toMatchObject({ code: "RESOURCE_UNKNOWN" });
    expect(hive.status().endpoints.map(({ endpoint }) => endpoint)).toEqual(["other"]);
  });

  test("hold over all hives, and each of two models is used", async () => {
    const all = await hives.swarm(4, { endpoints: [{ id: "api" }] });
    const models = ["small", "large"] as const;
    const sent = { small: [] as { at: number; tokens: number }[], large: [] as { at: number; tokens: number }[] };
    for (const hive of all)
      for (const model of models) {
        show(hive, model, model === "small" ? 2_000 : 20_000);
        void callOn(hive, hives.clock, ask(model, model === "small" ? 50 : 500), sent[model]);
      }
    await hives.clock.run(3 * MINUTE_MS);
    expect(largest(sent.small)).toBeLessThanOrEqual(2_000);
    expect(largest(sent.large)).toBeLessThanOrEqual(20_000);
    expect(sent.small.length * 50).toBeGreaterThan(0.9 * 3 * 2_000);
    expect(sent.large.length * 500).toBeGreaterThan(0.9 * 3 * 20_000);
  });
});

test("models without limits in any answer are forgotten when they are idle", async () => {
  const hive = await hives.alone({ endpoints: [{ id: "api" }] });
  for (let i = 0; i < 20_000; i++) {
    hive.tryAcquire(ask(`model-${i}`, 1)).lease?.done();
    if (i % 100 === 0) hives.clock.jump(MINUTE_MS);
  }
  expect(hive.status().endpoints).toHaveLength(1);
  show(hive, "small", 1_000);
  expect(hive.tryAcquire(ask("small", 2_000))).toMatchObject({ allowed: false, reason: "too-large" });
});
