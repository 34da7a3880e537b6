import { expect, test } from "vitest";
import { logged } from "../../../test/support/frames.ts";
import type { LoggedEvent } from "../../wire.ts";
import { entriesOf, spoken } from "./events.ts";

const texts = (...events: LoggedEvent["event"][]) =>
  entriesOf(events.map((event, i) => logged(i + 1, event, 0))).map(spoken);
const update = { agentId: "a", resource: "r", newCapacity: 9, reason: "429", timestamp: new Date(0) };

test.each([
  [
    { type: "cut", resource: "r", agentId: "a", reason: "429", level: 0.5, newCapacity: 500 },
    "a cut r to 50 %, 500 in a window: 429",
  ],
  [
    { type: "paused", resource: "r", agentId: "a", reason: "overloaded", pausedForMs: 3_000 },
    "a paused r for 3 s: overloaded",
  ],
  [{ type: "raised", resource: "r", level: 0.55, newCapacity: 550 }, "r rose to 55 %, 550 in a window"],
  [{ type: "raised", resource: "r", level: 1, newCapacity: 1_000 }, "r is whole again, 1,000 in a window"],
  [{ type: "announced", update }, "a announced r at 9 in a window: 429"],
  [{ type: "bus", state: "interrupted" }, "The bus is interrupted"],
  [{ type: "control", label: "Cut", text: "Done it.", hasFailed: false }, "Cut: Done it."],
  [{ type: "silent", agentId: "a" }, "a is silent"],
] as const)("%j reads: %s", (event, text) => expect(texts(event)).toEqual([text]));

const joined = (agentId: string) => ({ type: "joined", agentId }) as const;

test("agents that join together are one entry, which names a few of them", () => {
  expect(texts(joined("a"))).toEqual(["a has joined"]);
  expect(texts(joined("a"), joined("b"))).toEqual(["a and b have joined"]);
  expect(texts(joined("a"), joined("b"), joined("c"), joined("d"))).toEqual(["a, b, c and d have joined"]);
  const many = Array.from({ length: 100 }, (_, i) => joined(`a${i}`));
  expect(texts(...many)).toEqual(["a0, a1, a2 and 97 others have joined"]);
});

test("events of different kinds or times are separate entries, newest first", () => {
  const entries = entriesOf([
    logged(1, joined("a"), 0),
    logged(2, joined("b"), 5_000),
    logged(3, { type: "left", agentId: "a" }, 5_000),
    logged(4, { type: "bus", state: "ready" }, 5_000),
    logged(5, { type: "left", agentId: "b" }, 5_000),
  ]);
  expect(entries.map(spoken)).toEqual(["b has left", "The bus is ready", "a has left", "b has joined", "a has joined"]);
});

test("names and reasons are data, separate from the sentence", () => {
  const [entry] = entriesOf([
    logged(1, { type: "cut", resource: "<r>", agentId: "<a>", reason: "<b>429</b>", level: 0.5, newCapacity: 5 }),
  ]);
  expect(entry?.pieces.filter((piece) => typeof piece !== "string")).toEqual([
    { data: "<a>" },
    { data: "<r>" },
    { data: "<b>429</b>" },
  ]);
});

test("a failed button differs by its label, not only by colour", () => {
  const [entry] = entriesOf([logged(1, { type: "control", label: "Cut", text: "no", hasFailed: true })]);
  expect([entry?.tone, entry?.label]).toEqual(["failed", "Failed"]);
});

test("an event of an endpoint without a limit names no capacity", () => {
  const cut = { type: "cut", resource: "r", agentId: "a", reason: "429", level: 0.5 } as const;
  for (const newCapacity of [null as unknown as number, 1e12])
    expect(entriesOf([logged(1, { ...cut, newCapacity })]).map(spoken)).toEqual(["a cut r to 50 %: 429"]);
});
