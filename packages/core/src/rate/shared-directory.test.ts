import { describe, expect, test } from "vitest";
import { allocate, compareAndSwapOn } from "./cas64.ts";
import { HEADER_SIZE, LONGEST_NAME, ON_DEMAND, REQUEST_LIMIT, SHARED_RECORD_SIZE, STATE } from "./layout.ts";
import { PackedCounters } from "./packed-counters.ts";
import { DEAD, isLive, KEY, LIVE, next, PENDING, phaseOf, type Settings, same, WRITING } from "./record.ts";
import { SharedDirectory } from "./shared-directory.ts";

const SET: Settings = [7, 70, -1, 0];
const MADE: Settings = [7, 70, -1, ON_DEMAND];

function threads(records: number): { counters: PackedCounters; a: SharedDirectory; b: SharedDirectory } {
  const memory = allocate(1);
  const view = new Int32Array(memory.buffer, 0, HEADER_SIZE + records * SHARED_RECORD_SIZE);
  const counters = new PackedCounters(view, { cas: compareAndSwapOn(memory) });
  return { counters, a: new SharedDirectory(counters), b: new SharedDirectory(counters) };
}

describe("the table of ids in shared memory", () => {
  test("an id that one thread sets is found by another with its settings", () => {
    const { a, b, counters } = threads(16);
    for (const name of ["x", "", "key with spaces", "ключ", "\ud800", "\udc00", "x".repeat(LONGEST_NAME - 1)]) {
      const ref = a.set(KEY, name, SET, 1);
      expect(b.find(KEY, name)).toEqual(ref);
      expect([...counters.memory.subarray(ref.slot + REQUEST_LIMIT, ref.slot + REQUEST_LIMIT + 4)]).toEqual(SET);
      expect(b.find(1, name)).toBeUndefined();
    }
    const names: string[] = [];
    b.each(KEY, (name) => names.push(name));
    expect(names).toHaveLength(7);
    expect(() => a.set(KEY, "x".repeat(LONGEST_NAME), SET, 1)).toThrow("shorter than");
  });

  test("every record of a table can be used before it is full", () => {
    const { a, b } = threads(32);
    for (let i = 0; i < 32; i++) a.set(KEY, `id ${i}`, SET, 1);
    for (let i = 0; i < 32; i++) expect(b.find(KEY, `id ${i}`)).toBeDefined();
    expect(() => b.set(KEY, "one more", MADE, 1)).toThrow(expect.objectContaining({ code: "TABLE_FULL", maxIds: 32 }));
  });

  test("a removed id is gone for all threads, and cached references to it are invalid", () => {
    const { a, b, counters } = threads(16);
    const ref = a.set(KEY, "x", SET, 1);
    b.find(KEY, "x");
    expect(a.remove(KEY, "x")).toBe(true);
    expect(b.remove(KEY, "x")).toBe(false);
    expect(b.find(KEY, "x")).toBeUndefined();
    expect(isLive(counters.memory, ref)).toBe(false);
    const again = b.set(KEY, "x", SET, 1);
    expect(again.slot).toBe(ref.slot);
    expect(isLive(counters.memory, ref)).toBe(false);
    expect(isLive(counters.memory, again)).toBe(true);
  });

  test("a full table evicts the longest idle record created on demand, never one that was set or is in use", () => {
    const { a, b, counters } = threads(16);
    for (let i = 0; i < 4; i++) a.set(KEY, `set ${i}`, SET, 1);
    for (let i = 0; i < 12; i++) {
      const { slot } = a.set(KEY, `made ${i}`, MADE, 1);
      counters.take(slot, 10 + i, 1, 1);
    }
    const last = b.find(KEY, "made 11");
    counters.take(b.set(KEY, "new 0", MADE, 20).slot, 20, 1, 1);
    expect(a.find(KEY, "made 0")).toBeUndefined();
    expect(a.find(KEY, "made 1")).toBeDefined();
    for (let i = 1; i < 10; i++) b.set(KEY, `new ${i}`, SET, 20);
    expect(a.find(KEY, "made 9")).toBeUndefined();
    expect(() => b.set(KEY, "new 10", SET, 20)).toThrow(expect.objectContaining({ code: "TABLE_FULL" }));
    expect(a.find(KEY, "made 11")).toEqual(last);
    for (let i = 0; i < 4; i++) expect(a.find(KEY, `set ${i}`)).toBeDefined();
  });

  test("a removed record goes to another id only after its window", () => {
    const { a, counters } = threads(1);
    const { slot } = a.set(KEY, "x", SET, 5);
    counters.take(slot, 5, 10, 1);
    a.remove(KEY, "x");
    expect(() => a.set(KEY, "y", SET, 5)).toThrow(expect.objectContaining({ code: "TABLE_FULL" }));
    expect(a.set(KEY, "y", SET, 6).slot).toBe(slot);
    counters.load(slot, 6);
    expect(counters.requests).toBe(0);
  });

  test("a charge on a record that has meanwhile gone to another id is refunded exactly", () => {
    const { a, counters } = threads(1);
    const old = a.set(KEY, "x", MADE, 5);
    a.set(KEY, "y", SET, 6);
    counters.take(old.slot, 6, 30, 1);
    counters.take(old.slot, 6, 5, 1);
    expect(isLive(counters.memory, old)).toBe(false);
    counters.adjust(old.slot, 6, -30, -1);
    counters.load(old.slot, 6);
    expect([counters.requests, counters.tokens]).toEqual([1, 5]);
  });

  test.each([
    ["while writing", WRITING],
    ["before publishing", PENDING],
  ])("a thread that died %s blocks no other thread", (_, phase) => {
    const { a, b, counters } = threads(16);
    const { slot, state } = a.set(KEY, "x", SET, 1);
    counters.memory[slot + STATE] = same(next(state, phase), phase);
    expect(b.find(KEY, "x")).toBeUndefined();
    const ref = b.set(KEY, "x", SET, 1);
    expect(a.find(KEY, "x")).toEqual(ref);
    // If the thread was only slow, it could not continue as if nothing had happened.
    if (phase === PENDING) expect(phaseOf(counters.memory[slot + STATE] as number)).toBe(DEAD);
    expect(phaseOf(counters.memory[ref.slot + STATE] as number)).toBe(LIVE);
    for (let i = 0; i < 14; i++) a.set(KEY, `other ${i}`, SET, 1);
  });

  test("two threads that create the same id concurrently end with one record", () => {
    const { a, b } = threads(16);
    let other: unknown;
    // The second thread creates the id while the first one is still writing it.
    const slow = Object.defineProperty([0, 70, -1, 0], 0, {
      get: () => {
        other ??= b.set(KEY, "x", SET, 1);
        return 7;
      },
    }) as unknown as Settings;
    const ref = a.set(KEY, "x", slow, 1);
    expect(other).toEqual(ref);
    expect(b.find(KEY, "x")).toEqual(ref);
    const names: string[] = [];
    a.each(KEY, (name) => names.push(name));
    expect(names).toEqual(["x"]);
  });

  test("a record created on demand does not overwrite settings of another thread", () => {
    const { a, b, counters } = threads(16);
    const { slot } = a.set(KEY, "x", SET, 1);
    b.set(KEY, "x", [99, 99, -1, ON_DEMAND], 1);
    expect(counters.memory[slot + REQUEST_LIMIT]).toBe(7);
  });
});
