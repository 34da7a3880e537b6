import { expect, test } from "vitest";
import { useOf } from "./amounts-of.ts";
import { type HiveWaiter, Line } from "./line.ts";

function waiter(key: string | undefined, tokens: number, since = 0, deadline = Infinity): HiveWaiter {
  const asked = {
    candidates: ["eu"],
    tiers: [["eu"]],
    model: undefined,
    key,
    session: undefined,
    use: useOf({ tokens }),
    hasTokens: true,
  };
  const unused = { limitedBy: undefined, stopListening: undefined, stopRevising: undefined, grant() {}, refuse() {} };
  const nowhere = { home: {} as HiveWaiter["home"], targets: new Set<never>(), scopes: new Set<never>() };
  return { asked, priority: 0, cost: tokens, since, deadline, ...unused, ...nowhere };
}

const join = (line: Line, ...waiters: readonly HiveWaiter[]) => {
  for (const each of waiters) line.join(each, each.asked.key ?? "");
};

test("the first waiter of each group is next, in order of arrival", () => {
  const line = new Line();
  const [a1, a2, b1] = [waiter("a", 1), waiter("a", 2, 1), waiter("b", 3, 2)];
  join(line, a1, a2, b1);
  expect(line.next(0)).toBe(a1);
  line.served(a1);
  line.leave(a1);
  expect(line.next(0)).toBe(b1);
  line.served(b1);
  line.leave(b1);
  expect(line.next(0)).toBe(a2);
});

test("the demand of waiters whose key is exhausted does not count until the key has capacity", () => {
  const line = new Line();
  const poor = waiter("poor", 100);
  join(line, poor, waiter("poor", 10), waiter(undefined, 5));
  expect(line.wanted(0)).toMatchObject({ requests: 3, tokens: 115 });
  line.block(poor, 50, []);
  expect(line.wanted(0)).toMatchObject({ requests: 1, tokens: 5 });
  expect(line.nextAt(0)).toBe(50);
  expect(line.wanted(50)).toMatchObject({ requests: 3, tokens: 115 });
  line.block(poor, 90, []);
  line.unblock();
  expect(line.wanted(50).tokens).toBe(115);
});

test("waiters whose key is exhausted block only their own key", () => {
  const line = new Line();
  const poor = waiter("poor", 1);
  join(line, poor);
  expect(line.isWaiting("other", 0)).toBe(true);
  line.block(poor, 50, []);
  expect([line.isWaiting("other", 49), line.isWaiting("other", 50)]).toEqual([false, true]);
  expect(line.isWaiting("poor", 49)).toBe(true);
});

test("expired waiters are found, and so is the next deadline", () => {
  const line = new Line();
  const [soon, later] = [waiter("a", 1, 0, 10), waiter("b", 1, 0, 20)];
  join(line, later, soon, waiter("c", 1));
  expect(line.nextAt(0)).toBe(10);
  expect(line.overdue(9)).toBeUndefined();
  expect(line.overdue(10)).toBe(soon);
  line.leave(soon);
  expect(line.nextAt(10)).toBe(20);
  expect([line.size, [...line].length]).toEqual([2, 2]);
  expect(line.leave(soon)).toBe(false);
});
