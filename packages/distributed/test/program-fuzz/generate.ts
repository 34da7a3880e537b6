import type { EndpointConfig, KeyLimits, LimitObservation } from "@hivepace/core";
import { seededRandom } from "@hivepace/core/testing";
import { ILLEGAL_CALLS } from "./illegal-calls.ts";
import type { Ask, Command, Program } from "./program.ts";

const SECOND = 1_000;
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const IDS = ["eu", "us", "ap"] as const;
const KEYS = ["acme", "beta"] as const;
const MODELS = ["large", "small"] as const;

/** A random program. The same seed gives the same program. */
export function generate(seed: number): Program {
  const dice = new Dice(seed * 2_654_435_761 + 97);
  const bus = dice.pick(["none", "none", "perfect", "lossy"] as const);
  const hives = bus === "none" ? 1 : dice.between(1, 4);
  const world = new ProgramWriter(dice, hives, bus);
  return {
    seed,
    hives,
    bus,
    endpoints: world.endpoints(),
    keys: world.keys(),
    options: {
      windowMs: dice.pick([MINUTE, MINUTE, 10 * SECOND, 5_000]),
      leaseMs: dice.pick([undefined, 30 * SECOND]),
      maxQueue: dice.pick([undefined, undefined, 3]),
      maxRecovery: dice.pick([undefined, undefined, false]),
      isolation: dice.pick([undefined, "safe", "available"] as const),
      strategy: dice.pick([undefined, "round-robin"] as const),
      recoveryIntervalMs: dice.pick([undefined, 2 * SECOND]),
    },
    commands: Array.from({ length: dice.between(5, 60) }, () => world.command()),
  };
}

class ProgramWriter {
  readonly #dice: Dice;
  readonly #hives: number;
  readonly #bus: Program["bus"];

  constructor(dice: Dice, hives: number, bus: Program["bus"]) {
    this.#dice = dice;
    this.#hives = hives;
    this.#bus = bus;
  }

  endpoints(): EndpointConfig[] {
    const dice = this.#dice;
    return IDS.slice(0, dice.between(1, IDS.length)).flatMap((id): EndpointConfig[] => {
      const limits = (): Omit<EndpointConfig, "id"> => ({
        ...(dice.chance(0.8) ? { rpmLimit: dice.pick([0, 1, 2, 5, 30, 100, 0.5]) } : {}),
        ...(dice.chance(0.5) ? { tpmLimit: dice.pick([100, 1_000, 5_000]) } : {}),
        ...(dice.chance(0.15) ? { inputTpmLimit: dice.pick([100, 1_000]) } : {}),
        ...(dice.chance(0.15) ? { maxInFlight: dice.pick([1, 3]) } : {}),
      });
      const [model] = MODELS;
      return dice.chance(0.3)
        ? [
            { id, ...limits() },
            { id, model, ...limits() },
          ]
        : [{ id, ...limits() }];
    });
  }

  keys(): Record<string, KeyLimits> {
    const dice = this.#dice;
    return Object.fromEntries(
      KEYS.filter(() => dice.chance(0.5)).map((key) => [
        key,
        {
          ...(dice.chance(0.7) ? { rateLimitRpm: dice.pick([1, 5, 20]) } : {}),
          ...(dice.chance(0.4) ? { rateLimitTpm: dice.pick([100, 1_000]) } : {}),
        },
      ]),
    );
  }

  command(): Command {
    const dice = this.#dice;
    const hive = dice.between(0, this.#hives - 1);
    const lease = dice.between(0, 30);
    const kinds: readonly (readonly [weight: number, make: () => Command])[] = [
      [20, () => ({ do: "acquire", hive, ask: this.#ask() })],
      [14, () => ({ do: "try", hive, ask: this.#ask() })],
      [10, () => ({ do: "done", lease, ...(dice.chance(0.6) ? { part: dice.pick([0, 0.2, 1, 1.5, 3]) } : {}) })],
      [3, () => ({ do: "cancel", lease })],
      [1, () => ({ do: "renew", lease })],
      [4, () => this.#refused(lease)],
      [4, () => ({ do: "abort", signal: dice.between(0, 2) })],
      [4, () => ({ do: "observe", hive, observation: this.#observation() })],
      [
        1,
        () => ({
          do: "announce",
          hive,
          endpoint: dice.pick(IDS),
          ...(dice.chance(0.5) ? { retryAfterMs: 2_000 } : {}),
        }),
      ],
      [3, () => this.#reconfigure(hive)],
      [3, () => ({ do: "illegal", hive, call: dice.between(0, ILLEGAL_CALLS.length - 1) })],
      [1, () => ({ do: "listen", hive, how: dice.pick(["throws", "reenters"] as const) })],
      [16, () => ({ do: "pass", ms: dice.pick([1, 50, 900, 3 * SECOND, 20 * SECOND, MINUTE, 3 * MINUTE]) })],
      [1, () => ({ do: "sleep", ms: dice.pick([10 * SECOND, 2 * MINUTE, DAY, 40 * DAY, 800 * DAY]) })],
    ];
    const faults: readonly (readonly [weight: number, make: () => Command])[] = [
      [1, () => ({ do: "restart", hive })],
      [1, () => ({ do: "partition", hive, forMs: dice.pick([3 * SECOND, 30 * SECOND]) })],
      [1, () => ({ do: "outage", forMs: dice.pick([3 * SECOND, 30 * SECOND]) })],
    ];
    return dice.weighted(this.#bus === "none" ? kinds : [...kinds, ...faults])();
  }

  #ask(): Ask {
    const dice = this.#dice;
    return {
      ...(dice.chance(0.3) ? { route: dice.some(IDS) } : { endpoint: dice.pick(IDS) }),
      ...(dice.chance(0.3) ? { model: dice.pick(MODELS) } : {}),
      ...(dice.chance(0.4) ? { key: dice.pick(KEYS) } : {}),
      tokens: dice.pick([0, 1, 10, 90, 400, 3_000]),
      ...(dice.chance(0.3) ? { timeoutMs: dice.pick([0, 500, 30 * SECOND]) } : {}),
      ...(dice.chance(0.2) ? { priority: dice.between(-3, 10) } : {}),
      ...(dice.chance(0.4) ? { signal: dice.between(0, 2) } : {}),
    };
  }

  #refused(lease: number): Command {
    const dice = this.#dice;
    return {
      do: "refused",
      lease,
      ...(dice.chance(0.5) ? { retryAfterMs: dice.pick([0, 300, 5 * SECOND, 90 * SECOND]) } : {}),
      ...(dice.chance(0.3) ? { kind: "overload" } : {}),
    };
  }

  #observation(): LimitObservation {
    const dice = this.#dice;
    const one = () => ({
      ...(dice.chance(0.8) ? { limit: dice.pick([5, 40, 2_000, -1, Number.NaN]) } : {}),
      ...(dice.chance(0.6) ? { remaining: dice.pick([0, 1, 30, 2_000]) } : {}),
      ...(dice.chance(0.3) ? { resetMs: dice.pick([0, 10 * SECOND]) } : {}),
      ...(dice.chance(0.3) ? { windowMs: dice.pick([SECOND, MINUTE, 10 * MINUTE, 0, Number.NaN]) } : {}),
    });
    const dimensions = dice.some(["requests", "tokens", "input_tokens", "output_tokens"] as const);
    return {
      endpoint: dice.pick(IDS),
      ...(dice.chance(0.3) ? { model: dice.pick(MODELS) } : {}),
      limits: Object.fromEntries(dimensions.map((dimension) => [dimension, one()])),
    };
  }

  #reconfigure(hive: number): Command {
    const dice = this.#dice;
    return {
      do: "reconfigure",
      ...(dice.chance(0.3) ? { hive } : {}),
      ...(dice.chance(0.8) ? { endpoints: this.endpoints() } : {}),
      ...(dice.chance(0.4) ? { keys: this.keys() } : {}),
    };
  }
}

/** Random choices. */
class Dice {
  readonly #random: () => number;

  constructor(seed: number) {
    this.#random = seededRandom(seed);
  }

  chance(part: number): boolean {
    return this.#random() < part;
  }

  between(least: number, most: number): number {
    return Math.floor(least + (most - least + 1) * this.#random());
  }

  pick<T>(from: readonly T[]): T {
    return from[this.between(0, from.length - 1)] as T;
  }

  /** At least one of them, in their order. */
  some<T>(from: readonly T[]): T[] {
    const chosen = from.filter(() => this.chance(0.5));
    return chosen.length > 0 ? chosen : [this.pick(from)];
  }

  weighted<T>(from: readonly (readonly [weight: number, value: T])[]): T {
    let left = this.#random() * from.reduce((sum, [weight]) => sum + weight, 0);
    for (const [weight, value] of from) {
      left -= weight;
      if (left < 0) return value;
    }
    return (from[0] as readonly [number, T])[1];
  }
}
