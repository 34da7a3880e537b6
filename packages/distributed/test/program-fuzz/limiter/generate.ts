import { Dice } from "../core/dice.ts";
import { ILLEGAL_CALLS } from "../core/illegal-limiter-calls.ts";
import type { Program } from "../core/subject.ts";
import type { Command, Limit, Patience, Setup } from "./program.ts";

const SECOND = 1_000;
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const NAMES = ["api", "other"] as const;
/** More missed cuts than an agent accepts from a single message. */
const MANY_CUTS = 1_100;

/** Generates a random program over limiters. */
export function generate(seed: number): Program<Setup, Command> {
  const dice = new Dice(seed);
  const agents = dice.pick([1, 2, 2, 2, 3, 4]);
  const limit = (resource: string): Limit => ({
    resource,
    capacity: dice.pick([1, 2, 5, 30, 100, 0.5, 7.3]),
    windowMs: dice.pick([MINUTE, 10 * SECOND, 5 * SECOND]),
  });
  const cost = () => dice.pick([1, 1, 2, 5, 0.25, 40, 90]);
  const last: Last = { agent: 0, resource: "api", wasSet: false };
  const sharing = dice.chance(0.1) ? "none" : "fair";
  return {
    seed,
    setup: {
      agents,
      bus: dice.pick(["perfect", "perfect", "lossy"] as const),
      hasStore: sharing === "fair" && dice.chance(0.15),
      sharing,
      resources: NAMES.slice(0, dice.between(1, 2)).map(limit),
      options: {
        maxRecovery: dice.pick([undefined, undefined, false]),
        isolation: dice.pick([undefined, "safe", "available", "available"] as const),
        recoveryIntervalMs: dice.pick([undefined, 2 * SECOND]),
        cooldownMs: dice.pick([undefined, 0]),
        maxQueue: dice.pick([undefined, undefined, 3]),
      },
    },
    commands: Array.from({ length: dice.between(5, 35) }, () =>
      command(dice, agents, limit, cost, [10 * SECOND, 2 * MINUTE, DAY, 40 * DAY, 800 * DAY], last),
    ),
  };
}

/** Generates a random program with numbers at the edges of the allowed ranges. */
export function generateExtreme(seed: number): Program<Setup, Command> {
  const dice = new Dice(seed + 0.5);
  const agents = dice.between(2, 4);
  const number = () => dice.pick([0.001, 1, 3, 1_000, 1e12, Number.MAX_SAFE_INTEGER, dice.fraction(1e-6, 1e4)]);
  const last: Last = { agent: 0, resource: "api", wasSet: false };
  const usual = { capacity: number(), windowMs: dice.pick([1, SECOND, MINUTE, 7 * DAY]) };
  const limit = (resource: string): Limit => ({
    resource,
    ...(dice.chance(0.7) ? usual : { capacity: number(), windowMs: dice.pick([1, 10, HOUR, dice.fraction(1, 1e6)]) }),
  });
  return {
    seed,
    setup: {
      agents,
      bus: "perfect",
      hasStore: false,
      sharing: "fair",
      isExtreme: true,
      resources: NAMES.map((resource) => ({ resource, ...usual })),
      options: {
        heartbeatIntervalMs: dice.pick([100, SECOND, MINUTE]),
        maxRecovery: dice.pick([true, false]),
        reduceFactor: dice.pick([0.5, 0.9, 1e-9, dice.fraction(0.1, 0.99)]),
        ...dice.pick([
          { recoveryFactor: 1.1, recoveryIntervalMs: 30 * SECOND },
          { recoveryFactor: 10, recoveryIntervalMs: 0.5 },
          { recoveryFactor: 1.5, recoveryIntervalMs: 700 },
          { recoveryFactor: 1.000_001, recoveryIntervalMs: DAY },
        ]),
        cooldownMs: dice.pick([0, 0, SECOND, DAY, undefined]),
        isolation: dice.pick(["safe", "balanced", "available"] as const),
        secret: dice.pick([undefined, "a secret of enough characters"]),
      },
    },
    commands: Array.from({ length: dice.between(5, 40) }, () =>
      command(
        dice,
        agents,
        limit,
        () => dice.pick([1, usual.capacity, usual.capacity / 3, Number.MIN_VALUE]),
        [DAY, 40 * DAY, 365 * DAY, 25 * 365 * DAY],
        last,
      ),
    ),
  };
}

/** The target of the previous command. */
interface Last {
  agent: number;
  resource: string;
  wasSet: boolean;
}

function command(
  dice: Dice,
  agents: number,
  limit: (resource: string) => Limit,
  costOf: () => number,
  idle: readonly number[],
  last: Last,
): Command {
  // Mostly keeps the previous agent and resource, so that consecutive commands interact.
  if (dice.chance(0.6)) last.agent = dice.between(0, agents - 1);
  if (dice.chance(0.6)) last.resource = dice.pick([NAMES[0], NAMES[0], NAMES[1]]);
  const { agent, resource } = last;
  // A fault right after a change exposes half-finished changes.
  const wasSet = last.wasSet;
  last.wasSet = false;
  if (wasSet && dice.chance(0.3)) return { do: "outage", forMs: 12 * SECOND };
  const cost = () => dice.maybe(0.6, () => ({ cost: costOf() }));
  const patience = (): Patience => ({
    ...cost(),
    ...dice.maybe(0.4, () => ({ timeoutMs: dice.pick([0, 500, 30 * SECOND]) })),
    ...dice.maybe(0.2, () => ({ priority: dice.between(-3, 10) })),
    ...dice.maybe(0.4, () => ({ signal: dice.between(0, 2) })),
  });
  return dice.weighted<() => Command>([
    [20, () => ({ do: "acquire", agent, resource, options: patience() })],
    [3, () => ({ do: "run", agent, resource, options: patience() })],
    [20, () => ({ do: "try", agent, resource, times: dice.pick([1, 1, 5, 100]), ...cost() })],
    [3, () => ({ do: "release", agent, resource, ...cost() })],
    [6, () => ({ do: "finish", agent, resource })],
    [
      4,
      () => {
        last.wasSet = true;
        return { do: "set", ...dice.maybe(0.4, () => ({ agent })), ...limit(resource) };
      },
    ],
    [3, () => ({ do: "remove", ...dice.maybe(0.8, () => ({ agent })), resource })],
    [
      4,
      () => ({
        do: "announce",
        agent,
        resource,
        count: dice.chance(0.05) ? MANY_CUTS : 1,
        ...dice.maybe(0.5, () => ({ retryAfterMs: dice.pick([0.5, 300, 2_000, 365 * DAY]) })),
        ...dice.maybe(0.3, () => ({ kind: "overload" as const })),
      }),
    ],
    [4, () => ({ do: "abort", signal: dice.between(0, 2) })],
    [1, () => ({ do: "listen", agent, how: dice.pick(["throws", "reenters"] as const) })],
    [3, () => ({ do: "illegal", agent, call: dice.between(0, ILLEGAL_CALLS.length - 1) })],
    [1, () => ({ do: "restart", agent })],
    [1, () => ({ do: "partition", agent, forMs: dice.pick([3 * SECOND, 30 * SECOND]) })],
    [2, () => ({ do: "outage", forMs: dice.pick([3 * SECOND, 12 * SECOND, 30 * SECOND]) })],
    [18, () => ({ do: "pass", ms: dice.pick([1, 50, 900, 3 * SECOND, 3 * SECOND, 20 * SECOND, MINUTE]) })],
    [1, () => ({ do: "sleep", ms: dice.pick(idle) })],
  ])();
}
