import { expect, test } from "vitest";
import { frame, limitFrame, resourceFrame } from "../../../test/support/frames.ts";
import { agent, use } from "../../../test/support/pretend-observer.ts";
import { type Cell, cellsOf, cellText } from "./cells.ts";

const fills = (cells: readonly Cell[]) => cells.map(({ usedFill, shareFill }) => [usedFill, shareFill]);

test("a full cell represents the largest share", () => {
  const agents = [use("a", { used: [50], share: [100] }), use("b", { used: [50], share: [50] })];
  expect(fills(cellsOf(frame(), resourceFrame({ agents }), 0))).toEqual([
    [0.5, 1],
    [0.5, 0.5],
  ]);
});

test("after a cut by half all shares fill half a cell", () => {
  const agents = [use("a", { used: [10], share: [25] }), use("b", { used: [0], share: [25] })];
  expect(fills(cellsOf(frame(), resourceFrame({ agents, level: 0.5 }), 0))).toEqual([
    [0.2, 0.5],
    [0, 0.5],
  ]);
});

test("usage above every share fills the cell, and no more", () => {
  const agents = [use("a", { used: [200], share: [50] }), use("b", { used: [50], share: [50] })];
  expect(fills(cellsOf(frame(), resourceFrame({ agents }), 0))).toEqual([
    [1, 0.25],
    [0.25, 0.25],
  ]);
});

test("agents without usage, or without a known resource, are empty cells", () => {
  expect(fills(cellsOf(frame(), resourceFrame({ agents: [] }), 0))).toEqual([
    [0, 0],
    [0, 0],
  ]);
  expect(fills(cellsOf(frame(), undefined, 0))).toEqual([
    [0, 0],
    [0, 0],
  ]);
});

test("without a limit the share is undefined", () => {
  const agents = [use("a", { used: [4], share: [null as never] })];
  const [cell] = cellsOf(frame(), resourceFrame({ agents, limits: [limitFrame({ limit: null, total: null })] }), 0);
  expect([cell?.share, cell?.usedFill]).toEqual([undefined, 1]);
});

test("figures are those of the chosen limit", () => {
  const agents = [use("a", { used: [1, 200], share: [2, 300], waiting: [3, 400], waitedMs: 50 })];
  const [cell] = cellsOf(frame(), resourceFrame({ agents }), 1);
  expect(cell).toMatchObject({ used: 200, share: 300, waiting: 400, waitMs: 80_000, queuedMs: 50 });
});

const resource = resourceFrame({ level: 0.5, cause: { agentId: "a", reason: "429", agoMs: 1 } });
const textOf = (change: Partial<Cell>) =>
  cellText({ ...(cellsOf(frame(), resource, 0)[1] as Cell), ...change }, resource, 0);

test.each([
  [{}, "b: uses 30 of its share of 50 requests"],
  [{ waiting: 3, waitMs: 2_000 }, "b: uses 30 of its share of 50 requests; 3 waiting, about 2 s"],
  [{ hasCut: true }, "b: uses 30 of its share of 50 requests; announced the cut"],
  [{ share: undefined }, "b: uses 30 requests"],
  [{ state: "silent", lastMessageAgoMs: 9_000 }, "b: silent for 9 s; uses 30 of its share of 50 requests"],
  [{ heldMs: 312_000 }, "b: uses 30 of its share of 50 requests; a call for 5 min"],
  [{ heldMs: 2_000 }, "b: uses 30 of its share of 50 requests"],
  [{ state: "left" }, "b: has left"],
] as const)("a cell with %j reads: %s", (change, text) => expect(textOf(change)).toBe(text));

test("the agent that announced the current cut is marked, and none without a cut", () => {
  expect(cellsOf(frame(), resource, 0).map(({ hasCut }) => hasCut)).toEqual([true, false]);
  expect(cellsOf(frame(), { ...resource, level: 1 }, 0).map(({ hasCut }) => hasCut)).toEqual([false, false]);
});

test("an agent may have the name of a property of Object.prototype", () => {
  const [cell] = cellsOf(frame({ agents: [agent("__proto__")] }), resourceFrame({ agents: [use("__proto__")] }), 0);
  expect(cell).toMatchObject({ agentId: "__proto__", used: 30 });
});
