import { seededRandom } from "@hivepace/core/testing";
import type { Loop } from "./loop.ts";
import { shuffled } from "./random.ts";
import type { RunParameters } from "./suite.ts";

/** A contender, ready to run. */
export interface Runner {
  readonly name: string;
  readonly loop: Loop;
  /** Requests in one call. */
  readonly requests: number;
}

/** What the rounds need of the world, so that tests can bring another. */
export interface World {
  /** Monotonic, in milliseconds. */
  now(): number;
  /** Called before every slice: collects the garbage of the one before, and lets timers fire. */
  settle(): Promise<void>;
}

export interface Measured {
  /** Nanoseconds for one request, one value a round. */
  readonly nsPerRequest: number[];
  /** Requests made in all, warm-up included. */
  requests: number;
}

const MS = 1e6;

/**
 * Runs all contenders for a slice each, in an order shuffled anew in every round, and once more. The number of calls
 * in a slice is found in the warm-up and stays, so the clock is read twice a slice and costs nothing.
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
    // A sync loop has no promise, and no await is charged to it.
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
