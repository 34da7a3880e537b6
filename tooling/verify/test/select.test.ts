import { expect, test } from "vitest";
import type { CaseInfo } from "../src/case.ts";
import { type Selection, select } from "../src/select.ts";

const info = (id: string, seconds = 1, isQuick = false): CaseInfo => ({ id, seconds, isQuick, file: "x.cases.ts" });
const everything: Selection = { isQuick: false, only: [], shard: { index: 1, of: 1 }, rotation: undefined };
const ids = (cases: readonly CaseInfo[]): string[] => cases.map(({ id }) => id);
const many = Array.from({ length: 200 }, (_, i) => info(`suite/${i}`, 1 + (i % 7)));

test("without a rotation the longest cases start first", () => {
  const cases = [info("a", 2), info("b", 30), info("c", 7)];
  expect(ids(select(cases, everything))).toEqual(["b", "c", "a"]);
});

test("quick selects the cases of `test`, and only selects by a part of the id", () => {
  const cases = [info("a/one", 1, true), info("a/two"), info("b/one")];
  expect(ids(select(cases, { ...everything, isQuick: true }))).toEqual(["a/one"]);
  expect(ids(select(cases, { ...everything, only: ["a/"] })).sort()).toEqual(["a/one", "a/two"]);
  expect(ids(select(cases, { ...everything, only: ["two", "b"] })).sort()).toEqual(["a/two", "b/one"]);
});

test("every case is in exactly one shard", () => {
  const parts = [1, 2, 3].map((index) => ids(select(many, { ...everything, shard: { index, of: 3 } })));
  expect(parts.flat().sort()).toEqual(ids(many).sort());
  for (const part of parts) expect(part.length).toBeGreaterThan(60);
});

test("the same seed gives the same order, another seed another start", () => {
  const order = (rotation: number) => ids(select(many, { ...everything, rotation }));
  expect(order(5)).toEqual(order(5));
  expect(order(6)[0]).not.toBe(order(5)[0]);
  expect(order(6).sort()).toEqual(order(5).sort());
});

test.each([0.05, 0.1, 0.3])("consecutive time boxes of %d of the work cover all of it soon", (part) => {
  const box = part * many.reduce((sum, { seconds }) => sum + seconds, 0);
  const covered = new Set<string>();
  let runs = 0;
  for (let rotation = 217; covered.size < many.length; rotation++, runs++) {
    let seconds = 0;
    for (const each of select(many, { ...everything, rotation })) {
      seconds += each.seconds;
      if (seconds > box) break;
      covered.add(each.id);
    }
  }
  expect(runs).toBeLessThanOrEqual(Math.ceil(3 / part));
});
