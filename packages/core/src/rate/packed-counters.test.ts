import { describe, expect, test } from "vitest";
import { allocate, compareAndSwapOn } from "./cas64.ts";
import { LAST, MOST_REQUESTS, MOST_TOKENS, REQUEST_LIMIT, TOKEN_LIMIT } from "./layout.ts";
import { NO_REQUESTS, NO_TOKENS, PackedCounters, TAKEN } from "./packed-counters.ts";

const SLOT = 64;

function local(sliding: boolean): PackedCounters {
  return new PackedCounters(new Int32Array(128), { sliding });
}

function shared(sliding: boolean): PackedCounters {
  const memory = allocate(1024);
  return new PackedCounters(new Int32Array(memory.buffer), { cas: compareAndSwapOn(memory), sliding });
}

describe.each([
  ["one thread", local],
  ["shared memory", shared],
])("packed counters, %s", (_, make) => {
  function open(requestLimit: number, tokenLimit: number, sliding = false): PackedCounters {
    const counters = make(sliding);
    counters.memory[SLOT + REQUEST_LIMIT] = requestLimit;
    counters.memory[SLOT + TOKEN_LIMIT] = tokenLimit;
    return counters;
  }

  function counted(counters: PackedCounters, window: number): [requests: number, tokens: number] {
    counters.load(SLOT, window);
    return [counters.requests, counters.tokens];
  }

  test("a word has the tokens above the window's tag and the requests", () => {
    const counters = open(10, 1000);
    counters.take(SLOT, 0x107, 300, 1);
    counters.take(SLOT, 0x107, 5, 1);
    expect((counters.memory[SLOT] as number) >>> 0).toBe(0x07_000002);
    expect(counters.memory[SLOT + 1]).toBe(305);
  });

  test("take allows up to both limits and not one more", () => {
    const counters = open(3, 100);
    expect(counters.take(SLOT, 5, 99, 1)).toBe(TAKEN);
    expect(counters.take(SLOT, 5, 2, 1)).toBe(NO_TOKENS);
    expect(counters.take(SLOT, 5, 1, 1)).toBe(TAKEN);
    expect(counters.take(SLOT, 5, 0, 1)).toBe(TAKEN);
    expect(counters.take(SLOT, 5, 0, 1)).toBe(NO_REQUESTS);
    expect(counted(counters, 5)).toEqual([3, 100]);
  });

  test("takeOne counts as take does, or returns false and counts nothing", () => {
    const counters = open(3, 100);
    expect(counters.takeOne(SLOT, 5, 1)).toBe(false);
    expect(counted(counters, 5)).toEqual([0, 0]);
    counters.take(SLOT, 5, 90, 1);
    expect(counters.takeOne(SLOT, 5, 11)).toBe(false);
    expect(counters.takeOne(SLOT, 5, 10)).toBe(true);
    expect([counters.requests, counters.tokens]).toEqual([2, 100]);
    expect(counters.takeOne(SLOT, 5, 0)).toBe(true);
    expect(counters.takeOne(SLOT, 5, 0)).toBe(false);
    expect(counted(counters, 5)).toEqual([3, 100]);
  });

  test.each([
    ["the next window", 6, 5],
    ["the previous window", 4, 5],
    ["a window with the same tag", 5 + 256, 5],
    ["a window that was claimed and not yet prepared", 6, 6],
  ])("takeOne leaves %s to take", (_, window, last) => {
    const counters = open(MOST_REQUESTS, MOST_TOKENS);
    counters.take(SLOT, 5, 10, 1);
    counters.memory[SLOT + LAST] = last;
    const before = counters.memory.slice();
    expect(counters.takeOne(SLOT, window, 1)).toBe(false);
    expect(counters.memory.slice()).toEqual(before);
  });

  test("takeOne leaves saturating counts to take, and counts tokens above 31 bits correctly", () => {
    const counters = open(MOST_REQUESTS, MOST_TOKENS);
    counters.take(SLOT, 200, 2 ** 31 - 1, MOST_REQUESTS - 1);
    expect(counters.takeOne(SLOT, 200, 2 ** 31 - 5)).toBe(true);
    expect(counted(counters, 200)).toEqual([MOST_REQUESTS, MOST_TOKENS - 5]);
    expect(counters.takeOne(SLOT, 200, 0)).toBe(false);
    counters.adjust(SLOT, 200, 0, -10);
    expect(counters.takeOne(SLOT, 200, 6)).toBe(false);
    expect(counters.takeOne(SLOT, 200, 5)).toBe(true);
  });

  test("a new window starts from zero", () => {
    const counters = open(1, 100);
    for (let window = 1; window < 600; window++) {
      expect(counters.take(SLOT, window, 100, 1)).toBe(TAKEN);
      expect(counters.take(SLOT, window, 0, 1)).toBe(NO_REQUESTS);
      expect(counted(counters, window)).toEqual([1, 100]);
    }
  });

  test.each([1, 127, 128, 129, 255, 256, 257, 512, 256 * 1000, 2 ** 31 - 10])(
    "a word that was idle for %d windows is not taken for a current one",
    (idle) => {
      const counters = open(5, 100);
      counters.take(SLOT, 3, 60, 1);
      expect(counted(counters, 3 + idle)).toEqual([0, 0]);
      expect(counters.take(SLOT, 3 + idle, 100, 1)).toBe(TAKEN);
      expect(counted(counters, 3 + idle)).toEqual([1, 100]);
    },
  );

  test("windows go on past 32 bits", () => {
    const counters = open(1, 100);
    for (const window of [2 ** 31 - 2, 2 ** 31 - 1, 2 ** 31, 2 ** 31 + 1]) {
      expect(counters.take(SLOT, window | 0, 100, 1)).toBe(TAKEN);
      expect(counters.take(SLOT, window | 0, 100, 1)).toBe(NO_REQUESTS);
    }
  });

  test.each([1, 2, 127, 128, 255, 256])("a thread %d windows behind counts into the later window", (behind) => {
    const counters = open(2, 100);
    counters.take(SLOT, 1000, 10, 1);
    expect(counters.take(SLOT, 1000 - behind, 20, 1)).toBe(TAKEN);
    expect(counters.window).toBe(1000);
    expect(counted(counters, 1000)).toEqual([2, 30]);
    expect(counters.take(SLOT, 1000 - behind, 20, 1)).toBe(NO_REQUESTS);
  });

  test("a word that a dead thread claimed but never reset is reset by the next thread", () => {
    const counters = open(2, 100);
    counters.take(SLOT, 5, 90, 1);
    counters.memory[SLOT + LAST] = 6;
    expect(counted(counters, 6)).toEqual([0, 0]);
    expect(counters.take(SLOT, 6, 100, 1)).toBe(TAKEN);
    expect(counted(counters, 6)).toEqual([1, 100]);
  });

  test("counts saturate and never wrap", () => {
    const counters = open(MOST_REQUESTS, MOST_TOKENS);
    expect(counters.take(SLOT, 9, MOST_TOKENS - 5, MOST_REQUESTS - 1)).toBe(TAKEN);
    for (let i = 0; i < 3; i++) expect(counters.take(SLOT, 9, 100, 1)).toBe(TAKEN);
    expect(counted(counters, 9)).toEqual([MOST_REQUESTS, MOST_TOKENS]);
    counters.adjust(SLOT, 9, 10, 10);
    expect(counted(counters, 9)).toEqual([MOST_REQUESTS, MOST_TOKENS]);
    counters.adjust(SLOT, 9, -2 * MOST_TOKENS, -2 * MOST_REQUESTS);
    expect(counted(counters, 9)).toEqual([0, 0]);
  });

  test("an adjustment applies to its own window and to no other", () => {
    const counters = open(10, 100);
    counters.take(SLOT, 4, 50, 1);
    counters.adjust(SLOT, 3, -50, -1);
    counters.adjust(SLOT, 5, -50, -1);
    counters.adjust(SLOT, 4 + 256, -50, -1);
    expect(counted(counters, 4)).toEqual([1, 50]);
    counters.adjust(SLOT, 4, 150, 1);
    expect(counted(counters, 4)).toEqual([2, 200]);
    counters.adjust(SLOT, 4, -120, -1);
    expect(counted(counters, 4)).toEqual([1, 80]);
  });

  test("load changes nothing, not even the window", () => {
    const counters = open(1, 100);
    counters.take(SLOT, 4, 100, 1);
    const before = counters.memory.slice();
    expect(counted(counters, 4)).toEqual([1, 100]);
    expect(counted(counters, 5)).toEqual([0, 0]);
    expect(counters.memory.slice()).toEqual(before);
  });

  test("a sliding window counts only the previous window by weight", () => {
    const counters = open(100, 1000, true);
    counters.take(SLOT, 10, 800, 1);
    counters.weight = 0.5;
    expect(counters.take(SLOT, 11, 601, 1)).toBe(NO_TOKENS);
    expect(counters.take(SLOT, 11, 600, 1)).toBe(TAKEN);
    counters.weight = 1;
    expect(counters.take(SLOT, 13, 1000, 1)).toBe(TAKEN);
    expect(counted(counters, 12)).toEqual([0, 0]);
  });

  test("a record is idle when none of its counts matters any more", () => {
    for (const sliding of [false, true]) {
      const counters = open(100, 1000, sliding);
      counters.take(SLOT, 10, 1, 1);
      expect([10, 11, 12].map((window) => counters.isIdle(SLOT, window))).toEqual([false, !sliding, true]);
    }
  });
});
