import { describe, expect, test } from "vitest";
import { Inbox } from "./inbox.ts";

const at = (low: number, high: number): Inbox => {
  const inbox = new Inbox();
  inbox.resume({ low, high });
  return inbox;
};

describe("an inbox", () => {
  test("starts at the end of the topic", () => {
    expect(at(3, 10).next).toBe(10);
  });

  test("accepts each record once and skips gaps", () => {
    const inbox = at(0, 10);
    expect([9, 10, 10, 11, 15, 12].map((offset) => inbox.take(offset))).toEqual([
      false,
      true,
      false,
      true,
      true,
      false,
    ]);
    expect(inbox.next).toBe(16);
  });

  test("resumes at its position, no matter how many records were added", () => {
    const inbox = at(0, 10);
    expect(inbox.resume({ low: 5, high: 99 })).toBe(0);
    expect(inbox.next).toBe(10);
  });

  test("returns how many records were deleted before it read them", () => {
    const inbox = at(0, 10);
    expect(inbox.resume({ low: 25, high: 99 })).toBe(15);
    expect(inbox.next).toBe(25);
  });

  test("delivers to a subject only records after its subscription", () => {
    const inbox = at(0, 10);
    inbox.listen("a", 12);
    expect([11, 12, 13].map((offset) => inbox.wants("a", offset))).toEqual([false, true, true]);
    expect(inbox.wants("b", 13)).toBe(false);
    inbox.unlisten("a");
    expect(inbox.wants("a", 13)).toBe(false);
  });

  test("reads a deleted and recreated topic from the beginning", () => {
    const inbox = at(0, 10);
    inbox.listen("a", 10);
    expect(inbox.resume({ low: 0, high: 3 })).toBe(0);
    expect(inbox.next).toBe(0);
    expect(inbox.wants("a", 0)).toBe(true);
  });

  test("does not repeat records of a topic that has lost its end", () => {
    const inbox = at(500, 1_000);
    inbox.listen("a", 1_000);
    expect(inbox.resume({ low: 500, high: 990 })).toBe(0);
    expect(inbox.next).toBe(990);
    expect([989, 990].map((offset) => inbox.wants("a", offset))).toEqual([false, true]);
  });
});
