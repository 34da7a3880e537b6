import type { SyncReply, SyncReport } from "@hivepace/core";
import { SyncUnavailableError } from "@hivepace/core";
import { seededRandom } from "@hivepace/core/testing";
import { expect, test, vi } from "vitest";
import { MINUTE, virtualSwarm } from "../../test/support/virtual.ts";

// The test causes failures on purpose, so their warnings are suppressed.
vi.spyOn(process, "emitWarning").mockImplementation(() => {});

/**
 * Random runs of instances with wrong clocks, traffic, corrections and restarts, on a store that loses reports and
 * answers, reorders, repeats and delays them, and loses all data. Afterwards the store works again, for two syncs of
 * each instance.
 */
test.each(Array.from({ length: 40 }, (_, i) => i + 1))(
  "whatever goes wrong, nothing is counted twice, and two syncs after the trouble all see the truth (seed %i)",
  async (seed) => {
    const random = seededRandom(seed);
    const chance = (part: number) => random() < part;
    const between = (least: number, most: number) => least + Math.floor(random() * (most - least + 1));
    const { clock, memory, instance } = virtualSwarm({ epochMs: Date.UTC(2030, 0, 1) + between(0, MINUTE - 1) });
    let isCalm = false;

    const trouble = async (_: SyncReport, pass: () => Promise<SyncReply>): Promise<SyncReply> => {
      const wait = () => new Promise<void>((resolve) => clock.after(between(0, 15_000), () => resolve()));
      if (isCalm) return pass();
      if (chance(0.1)) throw new SyncUnavailableError("t", "lost on the way there");
      if (chance(0.1)) {
        // The report arrives late, and its answer is lost.
        void wait().then(pass);
        throw new SyncUnavailableError("t", "cut");
      }
      if (chance(0.1)) {
        await pass();
        throw new SyncUnavailableError("t", "lost on the way back");
      }
      if (chance(0.1)) await pass();
      if (chance(0.1)) await wait();
      return pass();
    };

    let started = 0;
    const begin = (i: number) => {
      const one = instance(`agent ${i}`, { skewMs: between(-40_000, 40_000), incarnation: `${started++}` });
      one.store.hook = trouble;
      return { ...one, view: one.start(), open: [] as ReturnType<typeof one.manager.check>[] };
    };
    const instances = Array.from({ length: 4 }, (_, i) => begin(i));
    /** Instances that have stopped. The store may keep the counts that it received from them. */
    const gone: string[] = [];

    for (let step = 0; step < 150; step++) {
      const i = between(0, 3);
      const one = instances[i] as (typeof instances)[number];
      one.open.push(one.manager.check({ endpoint: "eu", tokens: between(0, 50) }));
      const decision = one.open[between(0, one.open.length - 1)];
      if (decision && chance(0.3)) one.manager.settle(decision, between(0, 60));
      if (decision && chance(0.1)) one.manager.cancel(decision);
      if (chance(0.02)) memory.pages.clear();
      if (chance(0.01)) {
        gone.push(JSON.stringify([`agent ${i}`, one.store.reports[0]?.incarnation]));
        void one.view.close();
        instances[i] = begin(i);
      }
      await clock.run(between(0, 1_500));
    }
    isCalm = true;
    // Delayed reports arrive; one whole window later all windows are aligned with the store's.
    await clock.run(2 * MINUTE);
    const left = MINUTE - (clock.epochMs() % MINUTE);
    if (left < 5_000) await clock.run(left + 1);
    for (const { use } of instances) use(between(0, 20));
    if (chance(0.5)) memory.pages.clear();

    for (const { view } of instances) await view.refresh();
    for (const { view } of instances) await view.refresh();
    const counts = instances.map(({ manager }) => manager.snapshot().endpoints.find(({ id }) => id === "eu"));
    const rpm = counts.reduce((sum, count) => sum + (count?.requests ?? 0), 0);
    const tpm = counts.reduce((sum, count) => sum + (count?.tokens ?? 0), 0);
    for (const { view } of instances) expect(view.get("eu")).toMatchObject({ rpm, tpm });
    const page = memory.pages.get(JSON.stringify(["n", "endpoint", "eu", "default"]));
    const stored = [...(page?.left ?? [])].filter(([who]) => !gone.includes(who));
    expect(stored.reduce((sum, [, count]) => sum + count.requests, 0)).toBe(rpm);
    for (const { view } of instances) void view.close();
    await clock.run(20_000);
    expect(clock.pending).toBe(0);
  },
);
