import { expect, test } from "vitest";
import { EventLog, MAX_EVENTS } from "./event-log.ts";

const cut = { type: "cut", resource: "r", agentId: "a", reason: "429", level: 0.5, newCapacity: 5 } as const;

test("a thousand joins do not evict the last cut", () => {
  const log = new EventLog();
  log.add(cut, 1);
  for (let i = 0; i < 1_000; i++) log.add({ type: "joined", agentId: `a${i}` }, 2);
  const kept = log.since(0);
  expect(kept).toHaveLength(MAX_EVENTS + 1);
  expect(kept[0]).toEqual({ seq: 1, at: 1, event: cut });
  expect(kept.at(-1)?.seq).toBe(1_001);
});

test("the log keeps only the last cuts", () => {
  const log = new EventLog();
  for (let i = 0; i < MAX_EVENTS + 3; i++) log.add(cut, i);
  expect(log.since(0).map(({ at }) => at)).toEqual(Array.from({ length: MAX_EVENTS }, (_, i) => i + 3));
});

test("since() returns later events of both kinds, in order", () => {
  const log = new EventLog();
  log.add(cut, 1);
  log.add({ type: "left", agentId: "a" }, 2);
  log.add(cut, 3);
  expect(log.since(1).map(({ seq, event }) => [seq, event.type])).toEqual([
    [2, "left"],
    [3, "cut"],
  ]);
  expect(log.since(3)).toEqual([]);
});
