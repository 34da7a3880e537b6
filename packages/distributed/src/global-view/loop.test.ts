import type { SyncReport } from "@hivepace/core";
import { warnings } from "@hivepace/test-kit";
import { describe, expect, test } from "vitest";
import { away, virtualSwarm } from "../../test/support/virtual.ts";

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
