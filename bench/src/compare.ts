import { asyncLoop, syncLoop } from "./loop.ts";
import { type Measured, measureRounds, type Runner, type World } from "./rounds.ts";
import type { Row } from "./row.ts";
import { median, ratiosOf } from "./statistics.ts";
import type { AsyncSuite, RunParameters, SyncSuite } from "./suite.ts";

/**
 * Measures the contenders of a suite side by side. Returns a row for each against the reference, then one for each
 * claim.
 */
export async function compare(suite: SyncSuite | AsyncSuite, parameters: RunParameters, world: World): Promise<Row[]> {
  const { runners, close } = prepare(suite);
  try {
    const results = await measureRounds(runners, parameters, world);
    for (const [name, { requests }] of results) {
      if (requests >= suite.capacity)
        throw new Error(
          `${name}: ${requests} requests may have met the limit of ${suite.capacity}; fewer rounds, please`,
        );
    }
    return rowsOf(suite, results);
  } finally {
    await close();
  }
}

function prepare(suite: SyncSuite | AsyncSuite): { runners: Runner[]; close(): Promise<void> } {
  const closers: (() => void | Promise<void>)[] = [];
  const runners =
    suite.kind === "sync"
      ? suite.contenders.map(({ name, setup }) => {
          const { op, requests = 1, close } = setup();
          if (close) closers.push(close);
          return { name, requests, loop: syncLoop(op) };
        })
      : suite.contenders.map(({ name, setup }) => {
          const { op, requests = 1, close } = setup();
          if (close) closers.push(close);
          return { name, requests, loop: asyncLoop(op) };
        });
  return {
    runners,
    async close() {
      for (const close of closers) await close();
    },
  };
}

function rowsOf(suite: SyncSuite | AsyncSuite, results: ReadonlyMap<string, Measured>): Row[] {
  const times = (name: string): number[] => {
    const measured = results.get(name);
    if (!measured) throw new Error(`suite ${suite.name} has no contender "${name}"`);
    return measured.nsPerRequest;
  };
  const contenders = suite.contenders.map(({ name, note }): Row => {
    const row = { what: name, value: median(times(name)), unit: "ns", ...(note === undefined ? {} : { note }) };
    if (name === suite.reference) return row;
    return { ...row, against: suite.reference, ratio: ratiosOf(times(name), times(suite.reference)) };
  });
  const claims = suite.wanted.map(({ contender, against, direction, limit }): Row => {
    const ratio = ratiosOf(times(contender), times(against));
    const wanted = { of: "ratio", direction, limit } as const;
    return { what: contender, value: median(times(contender)), unit: "ns", against, ratio, wanted };
  });
  return [...contenders, ...claims];
}
