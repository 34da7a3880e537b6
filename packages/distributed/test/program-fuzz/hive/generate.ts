import { Dice } from "../core/dice.ts";
import type { Program } from "../core/subject.ts";
import { OperationsWriter } from "./operations.ts";
import type { Command, Setup } from "./program.ts";
import { extreme, MINUTE, SECOND, usual } from "./values.ts";
import { Writer } from "./writer.ts";

/** Generates a random program over hives. */
export function generate(seed: number): Program<Setup, Command> {
  return usualProgram(seed, new Dice(seed), Writer);
}

/**
 * Generates a random program over hives that also limit calls under way, park endpoints, pause, pool models, add and
 * remove single endpoints, and run work.
 */
export function generateOperations(seed: number): Program<Setup, Command> {
  const dice = new Dice(seed + 0.25);
  const { setup, ...program } = usualProgram(seed, dice, OperationsWriter);
  const weights = { eu: dice.pick([1, 3]), us: dice.pick([0.5, 2]) };
  return {
    ...program,
    setup: {
      ...setup,
      options: {
        ...setup.options,
        ...dice.maybe(0.2, () => ({ recovery: dice.pick(["measured", "stepped"] as const) })),
        ...dice.maybe(0.2, () => ({ weights })),
        ...dice.maybe(0.1, () => ({ minCapacity: dice.pick([0.5, 3]) })),
      },
    },
  };
}

function usualProgram(seed: number, dice: Dice, writerOf: typeof Writer): Program<Setup, Command> {
  const bus = dice.pick(["none", "none", "none", "perfect", "perfect", "lossy"] as const);
  const hives = bus === "none" ? 1 : dice.pick([1, 2, 2, 2, 3, 4]);
  const store = dice.weighted([
    [8, "none"],
    [1, "view"],
    [1, "store"],
  ] as const);
  const writer = new writerOf(dice, usual(dice), { hives, bus, store });
  return {
    seed,
    setup: {
      hives,
      bus,
      store,
      endpoints: writer.endpoints(),
      keys: writer.keys(),
      options: {
        windowMs: writer.values.windowMs(),
        leaseMs: dice.pick([undefined, 30 * SECOND]),
        maxQueue: dice.pick([undefined, undefined, 3]),
        maxRecovery: dice.pick([undefined, undefined, false]),
        isolation: dice.pick([undefined, "safe", "available"] as const),
        strategy: dice.pick([undefined, "round-robin", "weighted"] as const),
        recoveryIntervalMs: dice.pick([undefined, 2 * SECOND]),
        cooldownMs: dice.pick([undefined, undefined, 0]),
        mode: dice.chance(0.05) ? "observe" : undefined,
        mockEndpointTpmThreshold: dice.chance(0.05) ? 4_000 : undefined,
      },
    },
    commands: Array.from({ length: dice.between(5, 40) }, () => writer.command()),
  };
}

/** Generates a random program with numbers at the edges of the allowed ranges. */
export function generateExtreme(seed: number): Program<Setup, Command> {
  const dice = new Dice(seed + 0.5);
  const hives = dice.between(2, 4);
  const writer = new Writer(dice, extreme(dice), { hives, bus: "perfect", store: "none" });
  return {
    seed,
    setup: {
      hives,
      bus: "perfect",
      store: "none",
      isExtreme: true,
      endpoints: writer.endpoints(),
      keys: {},
      options: {
        windowMs: writer.values.windowMs(),
        leaseMs: dice.pick([SECOND, 24 * 60 * MINUTE]),
        heartbeatIntervalMs: dice.pick([100, SECOND, MINUTE]),
        maxRecovery: dice.pick([true, false]),
        reduceFactor: dice.pick([0.5, 0.9, 1e-9, dice.fraction(0.1, 0.99)]),
        ...dice.pick([
          { recoveryFactor: 1.1, recoveryIntervalMs: 30 * SECOND },
          { recoveryFactor: 10, recoveryIntervalMs: 0.5 },
          { recoveryFactor: 1.5, recoveryIntervalMs: 700 },
          { recoveryFactor: 1.000_001, recoveryIntervalMs: 24 * 60 * MINUTE },
        ]),
        cooldownMs: dice.pick([0, 0, SECOND, undefined]),
        isolation: dice.pick(["safe", "balanced", "available"] as const),
        secret: dice.pick([undefined, "a secret of enough characters"]),
      },
    },
    commands: Array.from({ length: dice.between(5, 40) }, () => writer.command()),
  };
}
