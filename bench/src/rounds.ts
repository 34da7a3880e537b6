import { seededRandom } from "@hivepace/core/testing";
import type { Loop } from "./loop.ts";
import { shuffled } from "./random.ts";
import type { RunParameters } from "./suite.ts";

/** A contender, ready to run. */
export interface Runner {
  readonly name: string;
  readonly loop: Loop;
  /** Number of requests in one call. */
  readonly requests: number;
}

/** The environment of the rounds, replaced in tests. */
export interface World {
  /** Returns monotonic milliseconds. */
  now(): number;
  /** Called before every slice: collects the garbage of the previous one, and lets timers fire. */
  settle(): Promise<void>;
}

export interface Measured {
  /** Nanoseconds per request, one value per round. */
  readonly nsPerRequest: number[];
  /** Total number of requests, including the warm-up. */
  requests: number;
}

const MS = 1e6;

/**
 * Runs all contenders for one slice per round, in an order shuffled for every round. The warm-up determines the number
 * of calls in a slice, so that the clock is read only twice per slice.
 */
export async function measureRounds(
  runners: readonly Runner[],
  parameters: RunParameters,
  world: World,
): Promise<Map<string, Measured>> {
  const random = seededRandom(parameters.seed);
  const results = new Map(runners.map(({ name }) => [name, { nsPerRequest: [], requests: 0 } as Measured]));
  const calls = new Map<Runner, number>();

  const slice = async (runner: Runner, times: number): Promise<number> => {
    await world.settle();
    const start = world.now();
    const answer = runner.loop(times);
    // A sync loop returns no promise, so that no await is included in its time.
    const granted = typeof answer === "number" ? answer : await answer;
    const elapsedMs = world.now() - start;
    if (granted !== times) throw new Error(`${runner.name}: ${times - granted} of ${times} calls were refused`);
    (results.get(runner.name) as Measured).requests += times * runner.requests;
    return elapsedMs;
  };

  for (const runner of runners) {
    let times = 1;
    let elapsedMs = await slice(runner, times);
    while (elapsedMs < parameters.sliceMs / 2) {
      times *= 2;
      elapsedMs = await slice(runner, times);
    }
    calls.set(runner, times);
  }

  for (let round = -parameters.warmUpRounds; round < parameters.rounds; round++) {
    for (const runner of shuffled(runners, random)) {
      const times = calls.get(runner) as number;
      const elapsedMs = await slice(runner, times);
      if (round >= 0) {
        const ns = (elapsedMs * MS) / (times * runner.requests);
        (results.get(runner.name) as Measured).nsPerRequest.push(ns);
      } else if (elapsedMs > 0) {
        calls.set(runner, Math.max(1, Math.round((times * parameters.sliceMs) / elapsedMs)));
      }
    }
  }
  return results;
}
