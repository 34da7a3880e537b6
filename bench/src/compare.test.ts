import { expect, test } from "vitest";
import { compare } from "./compare.ts";
import type { World } from "./rounds.ts";
import type { AsyncSuite, RunParameters, SyncOp, SyncSuite } from "./suite.ts";

const parameters: RunParameters = { quick: true, rounds: 5, warmUpRounds: 2, sliceMs: 10, seed: 1 };

/** A world in which only operations advance the time. */
function manualWorld() {
  let now = 0;
  const order: string[] = [];
  const world: World = { now: () => now, settle: async () => {} };
  const taking = (name: string, ms: number, answer = true): SyncOp => {
    return () => {
      now += ms;
      if (order.at(-1) !== name) order.push(name);
      return answer;
    };
  };
  return { world, taking, order };
}

function suiteOf(ops: Record<string, SyncOp>, more: Partial<SyncSuite> = {}): SyncSuite {
  const contenders = Object.entries(ops).map(([name, op]) => ({ name, setup: () => ({ op }) }));
  const [reference = ""] = Object.keys(ops);
  return { kind: "sync", name: "s", title: "", reference, contenders, wanted: [], capacity: Infinity, ...more };
}

test("each contender is compared with the reference, and each claim gets a separate row", async () => {
  const { world, taking } = manualWorld();
  const suite = suiteOf(
    { one: taking("one", 0.001), two: taking("two", 0.002) },
    { wanted: [{ contender: "one", against: "two", direction: "below", limit: 1 }] },
  );
  const [one, two, claim] = await compare(suite, parameters, world);
  expect(one?.value).toBeCloseTo(1_000);
  expect(one?.ratio).toBeUndefined();
  expect(two?.ratio?.median).toBeCloseTo(2);
  expect(claim).toMatchObject({ what: "one", against: "two", wanted: { of: "ratio", direction: "below", limit: 1 } });
  expect(claim?.ratio?.median).toBeCloseTo(0.5);
});

test("the contenders take turns in changing order", async () => {
  const { world, taking, order } = manualWorld();
  const names = ["a", "b", "c", "d"];
  await compare(suiteOf(Object.fromEntries(names.map((name) => [name, taking(name, 1)]))), parameters, world);
  const last = order.slice(-8).join("");
  expect([...last].sort().join("")).toBe("aabbccdd");
  expect(last.slice(0, 4)).not.toBe(last.slice(4));
});

test("a refused call ends the benchmark, because refusals must not be measured", async () => {
  const { world, taking } = manualWorld();
  await expect(compare(suiteOf({ no: taking("no", 1, false) }), parameters, world)).rejects.toThrow("were refused");
});

test("a run that may have met the limit ends in an error", async () => {
  const { world, taking } = manualWorld();
  const suite = suiteOf({ one: taking("one", 1) }, { capacity: 20 });
  await expect(compare(suite, parameters, world)).rejects.toThrow("may have met the limit of 20");
});

test("async calls are awaited, their time is divided by their requests, and all contenders are closed", async () => {
  const { world, taking } = manualWorld();
  const call = taking("many", 1);
  let closed = 0;
  const setup = () => ({ op: async () => call(), requests: 10, close: () => void closed++ });
  const suite: AsyncSuite = { ...suiteOf({}), kind: "async", reference: "many", contenders: [{ name: "many", setup }] };
  const [row] = await compare(suite, parameters, world);
  expect(row?.value).toBeCloseTo(100_000);
  expect(closed).toBe(1);
});
