import { describe, expect, test } from "vitest";
import { virtualSwarm } from "../../test/support/virtual.ts";
import { startGlobalView } from "../index.ts";

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
