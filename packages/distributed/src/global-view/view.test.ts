import { describe, expect, test } from "vitest";
import { away, MINUTE, virtualSwarm } from "../../test/support/virtual.ts";

const UNUSED = { rpm: 0, tpm: 0, utilization: 0, agents: 0 };

describe("the view", () => {
  test("each instance sees the sum over all, its own part as of now", async () => {
    const { clock, instance } = virtualSwarm();
    const [a, b] = [instance("a"), instance("b")];
    const [viewA, viewB] = [a.start(), b.start()];
    a.use(100, 10);
    b.use(50, 100);
    await clock.run(2_500);
    for (const view of [viewA, viewB])
      expect(view.get("eu")).toMatchObject({ rpm: 150, tpm: 6_000, utilization: 0.15, agents: 2 });
    a.use(1);
    expect(viewA.get("eu")).toMatchObject({ rpm: 151, tpm: 6_010 });
    expect(viewB.get("eu")).toMatchObject({ rpm: 150, tpm: 6_000 });
    expect(viewA.others("eu")).toMatchObject({ requests: 50, tokens: 5_000 });
    expect(viewA.get("us")).toMatchObject(UNUSED);
  });

  test("an instance counts as a user of its own usage, also before the store knows", async () => {
    const { clock, instance } = virtualSwarm();
    const [a, b] = [instance("a"), instance("b")];
    const [view, other] = [a.start(), b.start()];
    b.use(1);
    await clock.run(2_500);
    const agents = () => [view.get("eu").agents, view.get("us").agents, other.get("eu").agents];
    expect(agents()).toEqual([1, 0, 1]);
    a.use(1);
    a.use(1, 10, "us");
    expect(agents()).toEqual([2, 1, 1]);
    await view.refresh();
    await other.refresh();
    expect(agents()).toEqual([2, 1, 2]);
  });

  test("utilization is that of the tightest limit, and at most 1", async () => {
    const { clock, instance } = virtualSwarm();
    const [a, b] = [instance("a"), instance("b")];
    const view = a.start();
    b.start();
    b.use(3, 30_000);
    await clock.run(2_500);
    expect(view.get("eu")).toMatchObject({ rpm: 3, tpm: 90_000, utilization: 0.9 });
    a.use(2, 30_000);
    await clock.run(2_500);
    expect(view.get("eu")).toMatchObject({ rpm: 5, tpm: 150_000, utilization: 1 });
  });

  test("age grows from the last answer on, and is infinite before the first", async () => {
    const { clock, instance } = virtualSwarm();
    const a = instance("a");
    a.store.hook = away;
    const view = a.start();
    expect(view.get("eu")).toMatchObject({ ...UNUSED, ageMs: Infinity });
    expect(view.others("eu")).toBeUndefined();
    expect(view.status()).toMatchObject({ state: "starting", ageMs: Infinity });
    a.store.hook = (_, pass) => pass();
    await view.refresh();
    await view.refresh();
    expect(view.get("eu").ageMs).toBe(0);
    a.store.hook = away;
    await clock.run(3_000);
    expect(view.get("eu").ageMs).toBe(3_000);
    expect(view.status()).toMatchObject({ state: "fresh", ageMs: 3_000, error: { code: "SYNC_UNAVAILABLE" } });
  });

  test("a new window begins without usage of others, at the store's edge and without a sync", async () => {
    const { clock, instance } = virtualSwarm();
    const [a, b] = [instance("a"), instance("b")];
    const view = a.start();
    b.start();
    b.use(700);
    await clock.run(5_000);
    expect(view.get("eu").rpm).toBe(700);
    a.store.hook = away;
    await clock.run(MINUTE - 15_000 - 1);
    expect(view.get("eu").rpm).toBe(700);
    expect(view.others("eu")?.remainingMs).toBeCloseTo(1, 6);
    await clock.run(1);
    expect(view.get("eu")).toMatchObject(UNUSED);
  });

  test("models have their own counts, a pool has one for all its models, and others fall to the endpoint", async () => {
    const { clock, instance } = virtualSwarm();
    const [a, b] = [instance("a"), instance("b")];
    a.manager.setEndpoint({ id: "eu", models: ["x", "b"], rpmLimit: 10 });
    // The same quota with its models in another order.
    b.manager.setEndpoint({ id: "eu", models: ["b", "x"], rpmLimit: 10 });
    for (const one of [a, b]) one.manager.setEndpoint({ id: "eu", model: "own", rpmLimit: 100 });
    const view = a.start();
    b.start();
    b.use(2, 1, "eu", "b");
    b.use(1, 1, "eu", "x");
    b.use(7, 1, "eu", "own");
    b.use(9, 1, "eu", "something");
    await clock.run(2_500);
    const rpm = (model?: string) => view.get("eu", model).rpm;
    expect([rpm("x"), rpm("b"), rpm("own"), rpm("else"), rpm()]).toEqual([3, 3, 7, 9, 9]);
    expect(view.get("eu", "x").utilization).toBe(0.3);
  });

  test('no model and a model that is called "default" are added up, not mixed up', async () => {
    const { clock, instance } = virtualSwarm();
    const a = instance("a");
    a.manager.setEndpoint({ id: "eu", model: "default", rpmLimit: 100 });
    const [view, other] = [a.start(), instance("b").start()];
    a.use(3, 10, "eu");
    a.use(4, 10, "eu", "default");
    await clock.run(2_500);
    expect(other.get("eu")).toMatchObject({ rpm: 7, tpm: 70, agents: 1 });
    await view.refresh();
    expect(view.others("eu")).toMatchObject({ requests: 0, tokens: 0 });
  });

  test("an unknown endpoint is an error, and so is a removed one", async () => {
    const { clock, instance } = virtualSwarm();
    const a = instance("a");
    const view = a.start();
    await clock.run(1_500);
    expect(() => view.get("nobody")).toThrow(expect.objectContaining({ code: "RESOURCE_UNKNOWN" }));
    a.manager.removeEndpoint("eu");
    await clock.run(1_500);
    expect(() => view.get("eu")).toThrow(expect.objectContaining({ code: "RESOURCE_UNKNOWN" }));
    expect(a.store.reports.at(-1)?.watched).toHaveLength(1);
  });

  test("an endpoint above its output limit still reports its tokens", async () => {
    const { clock, instance } = virtualSwarm();
    const a = instance("a");
    a.manager.setEndpoint({ id: "split", outputTpmLimit: 100, tpmLimit: 10_000 });
    const view = a.start();
    const decision = a.manager.check({ endpoint: "split", tokens: 1_000, outputTokens: 50 });
    a.manager.settle(decision, 1_000, { outputTokens: 150 });
    await clock.run(1_500);
    expect(view.get("split")).toMatchObject({ rpm: 1, tpm: 1_000, utilization: 1 });
  });
});
