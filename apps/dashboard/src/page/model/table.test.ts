import { expect, test } from "vitest";
import { frame, resourceFrame } from "../../../test/support/frames.ts";
import { agent, use } from "../../../test/support/pretend-observer.ts";
import { cellsOf } from "./cells.ts";
import { ROWS_PER_PAGE, sortedBy, type TableChoice, tablePage } from "./table.ts";

const first: TableChoice = { filter: "", sort: "agentId", isDescending: false, page: 0 };
const cellsFor = (ids: readonly string[], waiting: readonly number[] = []) =>
  cellsOf(
    frame({ agents: ids.map((id) => agent(id)) }),
    resourceFrame({ agents: ids.map((id, i) => use(id, { waiting: [waiting[i] ?? 0] })) }),
    0,
  );
const namesOf = (ids: readonly string[], choice: Partial<TableChoice>, waiting?: readonly number[]) =>
  tablePage(cellsFor(ids, waiting), { ...first, ...choice }).rows.map(({ agentId }) => agentId);

test("names with numbers are ordered by the numbers", () => {
  expect(namesOf(["a10", "a9", "a1"], {})).toEqual(["a1", "a9", "a10"]);
  expect(namesOf(["a10", "a9", "a1"], { isDescending: true })).toEqual(["a10", "a9", "a1"]);
});

test("equal figures are ordered by name, in either direction", () => {
  const waiting = [1, 5, 1];
  expect(namesOf(["c", "b", "a"], { sort: "waiting", isDescending: true }, waiting)).toEqual(["b", "a", "c"]);
  expect(namesOf(["c", "b", "a"], { sort: "waiting" }, waiting)).toEqual(["a", "c", "b"]);
});

test("a search finds parts of names, in any case", () => {
  expect(namesOf(["Worker-1", "queen", "worker-2"], { filter: " WORK " })).toEqual(["Worker-1", "worker-2"]);
  expect(namesOf(["a"], { filter: ".*" })).toEqual([]);
});

test("a page number beyond the end is the last page", () => {
  const ids = Array.from({ length: ROWS_PER_PAGE * 2 + 1 }, (_, i) => `a${i}`);
  expect(tablePage(cellsFor(ids), { ...first, page: 99 })).toMatchObject({ page: 2, pages: 3, count: ids.length });
  expect(tablePage(cellsFor(ids), { ...first, page: 99 }).rows).toHaveLength(1);
  expect(tablePage([], { ...first, page: 3 })).toEqual({ rows: [], page: 0, pages: 1, count: 0 });
});

test("sorting by the same column again reverses the order; figures start with the largest, names with the first", () => {
  const byUse = sortedBy({ ...first, page: 2 }, "used");
  expect(byUse).toMatchObject({ sort: "used", isDescending: true, page: 0 });
  expect(sortedBy(byUse, "used").isDescending).toBe(false);
  expect(sortedBy(byUse, "agentId").isDescending).toBe(false);
});
