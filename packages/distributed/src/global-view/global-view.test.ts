import type { SyncReport } from "@hivepace/core";
import { warnings } from "@hivepace/test-kit";
import { describe, expect, test } from "vitest";
import { away, MINUTE, virtualSwarm } from "../../test/support/virtual.ts";
import { type GlobalViewOptions, startGlobalView } from "../index.ts";

const unheard = { rpm: 0, tpm: 0, utilization: 0, agents: 0 };

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
    expect(viewA.get("us")).toMatchObject(unheard);
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
    expect(view.get("eu")).toMatchObject({ ...unheard, ageMs: Infinity });
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
    expect(view.get("eu")).toMatchObject(unheard);
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

describe("reports", () => {
  test("only changes are reported; all counts are requested", async () => {
    const { clock, instance } = virtualSwarm();
    const a = instance("a");
    a.use(3);
    const view = a.start();
    await clock.run(0);
    const seen = () => a.store.reports.map(({ counts, watched }) => [counts.length, watched.length]);
    // The first sync asks for the time, and the second follows at once, because there are counts to report.
    expect(seen()).toEqual([
      [0, 2],
      [1, 1],
    ]);
    await view.refresh();
    a.use(1, 10, "us");
    await view.refresh();
    expect(seen().slice(2)).toEqual([
      [0, 2],
      [1, 1],
    ]);
    expect(a.store.reports.at(-1)?.counts).toEqual([
      { of: { kind: "endpoint", id: "us", model: undefined }, requests: 1, tokens: 10 },
    ]);
  });

  test("without counts the first sync is one exchange", async () => {
    const { clock, instance } = virtualSwarm();
    const a = instance("a");
    a.start();
    await clock.run(0);
    expect(a.store.reports).toHaveLength(1);
  });

  test("sequences grow, names stay the same objects, incarnations differ", async () => {
    const { clock, instance } = virtualSwarm();
    const [a, b] = [instance("a"), instance("a", { incarnation: "2" })];
    a.start();
    b.start();
    await clock.run(5_000);
    const sequences = a.store.reports.map(({ sequence }) => sequence);
    expect(sequences).toEqual(sequences.map((_, i) => i + 1));
    expect(a.store.reports[1]?.watched[0]).toBe(a.store.reports[0]?.watched[0]);
    const random = { manager: a.manager, store: a.store, agentId: "a", clock };
    const incarnations = new Set<string | undefined>();
    for (let i = 0; i < 3; i++) {
      await startGlobalView(random).refresh();
      incarnations.add(a.store.reports.at(-1)?.incarnation);
    }
    expect(incarnations.size).toBe(3);
  });

  test("a correction to a lower count is reported too", async () => {
    const { clock, instance } = virtualSwarm();
    const [a, b] = [instance("a"), instance("b")];
    const decision = a.manager.check({ endpoint: "eu", tokens: 500 });
    a.start();
    const view = b.start();
    await clock.run(2_500);
    expect(view.get("eu")).toMatchObject({ rpm: 1, tpm: 500 });
    a.manager.cancel(decision);
    await clock.run(2_500);
    expect(view.get("eu")).toMatchObject({ rpm: 0, tpm: 0 });
  });
});

describe("windows", () => {
  test.each([-20_000, 20_000, 3_600_000 + 20_000, -86_400_000 - 50_000])(
    "an instance whose own clock is %i ms off agrees from the store's next edge on",
    async (skewMs) => {
      const { clock, instance } = virtualSwarm();
      const [a, b] = [instance("a", { skewMs }), instance("b")];
      const [viewA, viewB] = [a.start(), b.start()];
      await clock.run(MINUTE);
      for (let window = 0; window < 3; window++) {
        // Checks every second of a whole window, edges included.
        for (let second = 0; second < 60; second++) {
          a.use(1);
          b.use(2);
          await clock.run(1_000);
          await Promise.all([viewA.refresh(), viewB.refresh()]);
          await Promise.all([viewA.refresh(), viewB.refresh()]);
          const inWindow = ((clock.epochMs() % MINUTE) - 10_000) / 1_000;
          const [seenA, seenB] = [viewA.get("eu").rpm, viewB.get("eu").rpm];
          expect(seenA).toBe(seenB);
          expect(a.manager.snapshot().remainingMs).toBeCloseTo(MINUTE - (clock.epochMs() % MINUTE), 6);
          if (inWindow > 0) expect(seenA % 3).toBe(0);
        }
      }
    },
  );

  test("a report that arrives after the edge is not repeated at once, and an equal count in the next window is reported", async () => {
    const { clock, instance } = virtualSwarm();
    const a = instance("a");
    const view = a.start();
    a.use(5);
    await view.refresh();
    clock.advance(MINUTE - (clock.epochMs() % MINUTE) - 1);
    a.use(1);
    const before = a.store.reports.length;
    a.store.hook = async (_, pass) => {
      await new Promise<void>((resolve) => clock.after(5, () => resolve()));
      return pass();
    };
    const refreshed = view.refresh();
    await clock.run(5);
    await refreshed;
    expect(a.store.reports.length - before).toBe(1);
    a.store.hook = (_, pass) => pass();
    a.use(6);
    await view.refresh();
    expect(a.store.reports.slice(before).map(({ counts }) => counts[0]?.requests)).toEqual([6, 6]);
  });

  test("a count equal to the previous window's is a change", async () => {
    const { clock, instance } = virtualSwarm();
    const a = instance("a");
    const view = a.start();
    a.use(5);
    await view.refresh();
    clock.jump(MINUTE);
    a.use(5);
    const before = a.store.reports.length;
    await view.refresh();
    expect(a.store.reports.slice(before).map(({ counts }) => counts[0]?.requests)).toEqual([5]);
  });

  test("counts from before the store's time was known are reported at once, in the store's window", async () => {
    const { clock, instance } = virtualSwarm();
    const a = instance("a", { skewMs: 20_000 });
    a.use(5);
    a.start();
    const view = instance("b").start();
    await clock.run(0);
    await view.refresh();
    expect(view.get("eu").rpm).toBe(5);
  });

  test("the manager's windows are not shifted while they are aligned", async () => {
    const { clock, instance } = virtualSwarm();
    const a = instance("a");
    let calls = 0;
    const { rephase } = a.manager;
    a.manager.rephase = (epochMs) => {
      calls++;
      rephase.call(a.manager, epochMs);
    };
    // Answers are delayed by varying times.
    a.store.hook = async (report, pass) => {
      await new Promise<void>((resolve) => clock.after(report.sequence % 30, () => resolve()));
      const reply = await pass();
      await new Promise<void>((resolve) => clock.after((report.sequence * 7) % 30, () => resolve()));
      return reply;
    };
    a.start();
    await clock.run(10 * MINUTE);
    expect(calls).toBeLessThanOrEqual(1);
  });

  test("the view follows a store whose clock is set", async () => {
    const { clock, instance } = virtualSwarm();
    const [a, b] = [instance("a"), instance("b")];
    const [viewA] = [a.start(), b.start()];
    await clock.run(5_000);
    clock.stepWallClock(25_000);
    await clock.run(2 * MINUTE);
    b.use(4);
    await clock.run(2_500);
    expect(viewA.get("eu").rpm).toBe(4);
    expect(a.manager.snapshot().remainingMs).toBeCloseTo(MINUTE - (clock.epochMs() % MINUTE), 3);
  });
});

describe("the loop", () => {
  test("syncs at once and then about every interval, never at the same distance twice in a row", async () => {
    const { clock, instance } = virtualSwarm();
    const a = instance("a");
    const at: number[] = [];
    a.store.hook = (_, pass) => {
      at.push(clock.now());
      return pass();
    };
    a.start();
    await clock.run(60_000);
    expect(at[0]).toBe(0);
    expect(at.length).toBeGreaterThanOrEqual(55);
    expect(at.length).toBeLessThanOrEqual(66);
    const gaps = at.slice(1).map((time, i) => time - (at[i] as number));
    for (const gap of gaps) expect(Math.abs(gap - 1_000)).toBeLessThanOrEqual(100);
    expect(new Set(gaps).size).toBeGreaterThan(50);
  });

  test("two agents do not sync in step, and one agent does the same each time", async () => {
    const times = async (agentId: string) => {
      const { clock, instance } = virtualSwarm();
      const a = instance(agentId);
      const at: number[] = [];
      a.store.hook = (_, pass) => {
        at.push(clock.now());
        return pass();
      };
      a.start();
      await clock.run(10_000);
      return at;
    };
    expect(await times("a")).toEqual(await times("a"));
    expect(await times("a")).not.toEqual(await times("b"));
  });

  test("never overlaps itself, however slow the store is", async () => {
    const { clock, instance } = virtualSwarm();
    const a = instance("a");
    let [under, most] = [0, 0];
    a.store.hook = async (_, pass) => {
      most = Math.max(most, ++under);
      await new Promise<void>((resolve) => clock.after(3_500, () => resolve()));
      under--;
      return pass();
    };
    const view = a.start();
    const joined = [view.refresh(), view.refresh()];
    await clock.run(30_000);
    await Promise.all(joined);
    expect(most).toBe(1);
    expect(a.store.reports.length).toBeGreaterThan(5);
  });

  test("a refresh reports all counts before it, also during a sync; concurrent callers share one refresh", async () => {
    const { clock, instance } = virtualSwarm();
    const a = instance("a");
    a.store.hook = async (_, pass) => {
      await new Promise<void>((resolve) => clock.after(100, () => resolve()));
      return pass();
    };
    const view = a.start();
    await clock.run(50);
    a.use(3);
    const refreshed = Promise.all([view.refresh(), view.refresh(), view.refresh()]);
    await clock.run(500);
    await refreshed;
    expect(a.store.reports.map(({ counts }) => counts[0]?.requests)).toEqual([undefined, 3]);
  });

  test("while the store is away, syncs become rarer within bounds, and resume at once when it is back", async () => {
    const { clock, instance } = virtualSwarm();
    const a = instance("a");
    const at: number[] = [];
    a.store.hook = () => {
      at.push(clock.now());
      return away();
    };
    const view = a.start();
    await clock.run(600_000);
    const gaps = at.slice(1).map((time, i) => time - (at[i] as number));
    expect(Math.max(...gaps)).toBeLessThanOrEqual(10_000);
    expect(at.length).toBeLessThan(130);
    expect(view.status()).toMatchObject({ state: "stale", failures: at.length });
    a.store.hook = (_, pass) => pass();
    await clock.run(10_000);
    expect(view.status()).toMatchObject({ state: "fresh", failures: 0, error: undefined });
  });

  test("a store that never answers is given up after a while, and tried again", async () => {
    const { clock, instance } = virtualSwarm();
    const a = instance("a");
    a.store.hook = () => new Promise(() => {});
    const view = a.start();
    await clock.run(10_001);
    expect(view.status()).toMatchObject({ failures: 1, error: { code: "SYNC_UNAVAILABLE" } });
    a.store.hook = (_, pass) => pass();
    await clock.run(2_000);
    expect(view.status().state).toBe("fresh");
  });

  test("each time that the view becomes stale is one warning", async () => {
    const { clock, instance } = virtualSwarm();
    const a = instance("a");
    const codes = await warnings(async () => {
      const view = a.start();
      await clock.run(3_000);
      a.store.hook = away;
      await clock.run(4_000);
      expect(view.status().state).toBe("fresh");
      await clock.run(120_000);
      a.store.hook = (_, pass) => pass();
      await clock.run(15_000);
      a.store.hook = away;
      await clock.run(120_000);
      await view.close();
    });
    expect(codes).toEqual(["HIVEPACE_SYNC_STALE", "HIVEPACE_SYNC_STALE"]);
  });

  test("an endpoint without an answer ages alone, with one warning", async () => {
    const { clock, instance } = virtualSwarm();
    const a = instance("a");
    const broken = { requests: 0, tokens: 0, agents: 0, own: undefined, error: "WRONGTYPE" };
    a.store.hook = async (report: SyncReport, pass) => {
      const reply = await pass();
      const names = [...report.counts.map(({ of }) => of), ...report.watched];
      return { ...reply, sums: reply.sums.map((sum, i) => (names[i]?.id === "eu" ? broken : sum)) };
    };
    const codes = await warnings(async () => {
      a.use(1);
      const view = a.start();
      await clock.run(20_000);
      expect(view.get("eu")).toMatchObject({ rpm: 1, ageMs: Infinity });
      expect(view.get("us").ageMs).toBeLessThanOrEqual(1_100);
      expect(view.status()).toMatchObject({ state: "fresh", failures: 0 });
      await view.close();
    });
    expect(codes).toEqual(["HIVEPACE_SYNC_PARTIAL"]);
    // A partial failure does not cause a second request at each sync.
    expect(a.store.reports.length).toBeLessThan(30);
  });

  test("listeners are notified of every sync, until they are removed", async () => {
    const { clock, instance } = virtualSwarm();
    const a = instance("a");
    const view = a.start();
    const heard: unknown[] = [];
    const off = view.onSync(({ ok, sent, error }) => heard.push([ok, sent, error !== undefined]));
    await clock.run(0);
    a.use(1);
    await view.refresh();
    a.store.hook = away;
    await view.refresh();
    off();
    await view.refresh();
    expect(heard).toEqual([
      [true, 0, false],
      [true, 1, false],
      [false, 0, true],
    ]);
  });

  test("close reports the last counts, ends every timer, and may be called twice", async () => {
    const { clock, instance } = virtualSwarm();
    const [a, b] = [instance("a"), instance("b")];
    const [viewA, viewB] = [a.start(), b.start()];
    await clock.run(1_500);
    a.use(5);
    await Promise.all([viewA.close(), viewA.close(), viewA[Symbol.asyncDispose]()]);
    await viewB.refresh();
    expect(viewB.get("eu").rpm).toBe(5);
    const sent = a.store.reports.length;
    await viewA.refresh();
    await viewB.close();
    expect(clock.pending).toBe(0);
    await clock.run(10_000);
    expect(a.store.reports.length).toBe(sent);
    expect(viewA.status().state).toBe("closed");
    // The view leaves a store that it does not own open.
    const { window, ...report } = a.store.reports[0] as SyncReport;
    expect(await a.store.sync({ ...report, window })).toMatchObject({ sums: expect.any(Array) });
  });

  test("close does not wait for a store that is away", async () => {
    const { clock, instance } = virtualSwarm();
    const a = instance("a");
    a.store.hook = away;
    const view = a.start();
    await clock.run(1_500);
    const asked = a.store.reports.length;
    await view.close();
    expect(a.store.reports.length).toBe(asked);
    expect(clock.pending).toBe(0);
  });
});

test.each([
  ["manager", { manager: {} }],
  ["store", { store: undefined }],
  ["agentId", { agentId: "" }],
  ["agentId", { agentId: 7 }],
  ["incarnation", { incarnation: "" }],
  ["namespace", { namespace: "" }],
  ["intervalMs", { intervalMs: 0 }],
  ["staleAfterMs", { staleAfterMs: -1 }],
  ["timeoutMs", { timeoutMs: Number.NaN }],
  ["random", { random: 0.5 }],
])("an invalid %s is refused by name (%j)", (option, change) => {
  const { clock, instance } = virtualSwarm();
  const { manager, store } = instance("a");
  const options = { manager, store, agentId: "a", clock, ...change } as GlobalViewOptions;
  expect(() => startGlobalView(options)).toThrow(expect.objectContaining({ code: "INVALID_CONFIG", option }));
});
