import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { TestHives } from "./support/hives.ts";

let hives: TestHives;
beforeEach(() => {
  hives = new TestHives();
});
afterEach(() => hives.close());

const says = (limit: number, model?: string, windowMs?: number) => ({
  endpoint: "eu",
  model,
  limits: { requests: { limit, remaining: limit, windowMs } },
});

describe("a header that shows another limit than the configured one", () => {
  test("counts when it is lower, and no longer once it is not", async () => {
    const hive = await hives.alone({ endpoints: [{ id: "eu", rpmLimit: 600, tpmLimit: 9_000 }] });
    hive.observe(says(60));
    expect(hive.explain("eu").limits[0]).toMatchObject({ limit: 60, isLearned: true, windowMs: 60_000 });
    hive.observe(says(900));
    expect(hive.explain("eu").limits[0]).toMatchObject({ limit: 600, isLearned: false });
  });

  test("limits the calls of all agents, also of those that have not seen it", async () => {
    const [first, second] = await hives.swarm(2, { endpoints: [{ id: "eu", rpmLimit: 600 }] });
    first?.observe(says(60));
    await hives.clock.run(3_000);
    let granted = 0;
    for (let i = 0; i < 200; i++) if (second?.tryAcquire({ endpoint: "eu" }).allowed) granted++;
    expect(granted).toBeLessThanOrEqual(60);
    expect(granted).toBeGreaterThan(0);
  });

  test("comes with a refusal that cuts all agents, although the others do not know the lower limit yet", async () => {
    const all = await hives.swarm(3, { endpoints: [{ id: "eu", rpmLimit: 600, tpmLimit: 90_000 }] });
    const reduced: string[] = [];
    for (const hive of all) hive.onCapacityChange(() => reduced.push(hive.agentId));
    const [first] = all;
    const decision = first?.tryAcquire({ endpoint: "eu", model: "small", tokens: 10 });
    first?.observe(says(60, "small"));
    decision?.lease?.refused({ reason: "429" });
    await hives.clock.run(100);
    expect([...new Set(reduced)].sort()).toEqual(all.map(({ agentId }) => agentId));
    for (const hive of all) expect(hive.explain("eu").limits[0]?.total).toBeLessThan(400);
  });

  test("concerns only the model of the answer", async () => {
    const hive = await hives.alone({ endpoints: [{ id: "eu", rpmLimit: 600, tpmLimit: 9_000 }] });
    hive.observe(says(5, "small"));
    const granted = (model: string) => {
      let count = 0;
      while (count < 20 && hive.tryAcquire({ endpoint: "eu", model, tokens: 1 }).allowed) count++;
      return count;
    };
    expect(granted("small")).toBe(5);
    expect(granted("large")).toBe(20);
    expect(hive.explain("eu", "small").limits).toContainEqual(expect.objectContaining({ limit: 5, isLearned: true }));
  });

  test("applies over its own window when that is shorter", async () => {
    const hive = await hives.alone({ endpoints: [{ id: "eu", rpmLimit: 600 }] });
    hive.observe(says(10, undefined, 1_000));
    let granted = 0;
    while (granted < 100 && hive.tryAcquire({ endpoint: "eu" }).allowed) granted++;
    expect(granted).toBe(10);
    expect(hive.explain("eu").limits).toMatchObject([
      { limit: 600, windowMs: 60_000, isLearned: false },
      { limit: 10, windowMs: 1_000, isLearned: true, used: 10 },
    ]);
  });

  test("survives a change of other endpoints, and ends when a lower limit is configured", async () => {
    const hive = await hives.alone({ endpoints: [{ id: "eu", rpmLimit: 600, tpmLimit: 9_000 }] });
    hive.observe(says(60, "small"));
    hive.addEndpoint({ id: "us", rpmLimit: 1 });
    expect(hive.explain("eu", "small").limits).toContainEqual(expect.objectContaining({ limit: 60 }));
    hive.reconfigure({ endpoints: [{ id: "eu", rpmLimit: 30, tpmLimit: 9_000 }] });
    expect(hive.explain("eu", "small").limits.map(({ limit }) => limit)).toEqual([30, 9_000]);
  });
});
