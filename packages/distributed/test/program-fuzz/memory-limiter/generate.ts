import { Dice } from "../core/dice.ts";
import { ILLEGAL_CALLS } from "../core/illegal-limiter-calls.ts";
import type { Program } from "../core/subject.ts";
import type { Command, Limit, Patience, Setup } from "./program.ts";

const SECOND = 1_000;
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const NAMES = ["api", "other", "demand-1", "demand-2"] as const;

/** Generates a random program over a `MemoryLimiter`. */
export function generate(seed: number): Program<Setup, Command> {
  const dice = new Dice(seed);
  const onDemand = dice.chance(0.5);
  return {
    seed,
    setup: {
      ...dice.maybe(0.4, () => ({ maxQueue: dice.pick([0, 1, 3]) })),
      onDemand,
      closesEarly: dice.chance(0.3),
      resources: NAMES.slice(0, dice.between(0, 2)).map((resource) => limit(dice, resource)),
    },
    commands: Array.from({ length: dice.between(5, 60) }, () => command(dice)),
  };
}

function limit(dice: Dice, resource: string): Limit {
  return {
    resource,
    capacity: dice.pick([1, 2, 5, 30, 100, 0.5, 0.001, 7.3]),
    windowMs: dice.pick([MINUTE, SECOND, 10 * SECOND, 7, DAY]),
    ...dice.maybe(0.3, () => ({ burst: dice.pick([1, 3, 50, 0.5]) })),
  };
}

function command(dice: Dice): Command {
  const resource = dice.pick(NAMES);
  const cost = () => dice.maybe(0.6, () => ({ cost: dice.pick([1, 2, 5, 0.25, 40, 1e-9]) }));
  const patience = (): Patience => ({
    ...cost(),
    ...dice.maybe(0.4, () => ({ timeoutMs: dice.pick([0, 1, 500, 30 * SECOND, Infinity]) })),
    ...dice.maybe(0.3, () => ({ priority: dice.between(-3, 10) })),
    ...dice.maybe(0.4, () => ({ signal: dice.between(0, 2) })),
  });
  return dice.weighted<() => Command>([
    [20, () => ({ do: "acquire", resource, options: patience() })],
    [14, () => ({ do: "try", resource, ...cost() })],
    [6, () => ({ do: "release", resource, ...cost() })],
    [6, () => ({ do: "finish", resource })],
    [
      6,
      () => ({
        do: "run",
        resource,
        options: patience(),
        workMs: dice.pick([0, 300, MINUTE]),
        fails: dice.chance(0.3),
      }),
    ],
    [8, () => ({ do: "set", ...limit(dice, resource) })],
    [3, () => ({ do: "remove", resource })],
    [1, () => ({ do: "announce", resource })],
    [5, () => ({ do: "abort", signal: dice.between(0, 2) })],
    [2, () => ({ do: "listen", how: dice.pick(["throws", "reenters", "sets"] as const) })],
    [4, () => ({ do: "illegal", call: dice.between(0, ILLEGAL_CALLS.length - 1) })],
    [20, () => ({ do: "pass", ms: dice.pick([0, 1, 50, 900, 3 * SECOND, 20 * SECOND, MINUTE, 0.3]) })],
    [2, () => ({ do: "sleep", ms: dice.pick([10 * SECOND, DAY, 40 * DAY, 800 * DAY]) })],
  ])();
}
