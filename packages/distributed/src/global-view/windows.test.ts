import { describe, expect, test } from "vitest";
import { MINUTE, virtualSwarm } from "../../test/support/virtual.ts";

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
