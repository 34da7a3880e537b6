import { ManualClock } from "@hivepace/core/testing";
import { expect, test } from "vitest";
import { createHive } from "../../src/index.ts";
import { watch } from "../support/hives.ts";

/** A clock on which time passes between any two readings, as it does on a real one. */
class TickingClock extends ManualClock {
  override now(): number {
    this.jump(0.01);
    return super.now();
  }
}

test("waiters are served while the capacity grows back, although it is another one at every look", async () => {
  const clock = new TickingClock({ now: 5_000 });
  const hive = await createHive({ clock, windowMs: 1_000, endpoints: [{ id: "eu", rpmLimit: 120 }] });
  const waiting = Array.from({ length: 400 }, () => watch(hive.acquire({ endpoint: "eu" })));
  let refused = 0;
  for (let second = 0; second < 60; second++) {
    for (const { lease } of waiting) {
      if (!lease) continue;
      if (second === 1 && refused++ < 80) lease.refused({ reason: "429" });
      else lease.done();
    }
    await clock.run(1_000);
  }
  expect(waiting.filter(({ lease }) => lease !== undefined)).toHaveLength(400);
  await hive.close();
});
