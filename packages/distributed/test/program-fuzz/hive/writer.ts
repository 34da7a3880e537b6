import type { LimitObservation } from "@hivepace/core";
import type { HiveEndpoint, HiveKeyLimits } from "../../../src/index.ts";
import type { Dice } from "../core/dice.ts";
import { ILLEGAL_CALLS } from "./illegal-calls.ts";
import type { Ask, Command, Setup } from "./program.ts";
import { MINUTE, SECOND, type Values } from "./values.ts";

export const IDS = ["eu", "us", "ap"] as const;
const KEYS = ["acme", "beta"] as const;
export const MODELS = ["large", "small"] as const;
/** More missed cuts than an agent accepts from a single message. */
const MANY_CUTS = 1_100;
/** More calls than fit into the arguments of one function call. */
const MANY_CALLS = 140_000;

/** Writes the endpoints, keys and commands of a program. */
export class Writer {
  readonly values: Values;
  protected readonly dice: Dice;
  protected readonly setup: Pick<Setup, "hives" | "bus" | "store">;
  #last: Ask = { endpoint: "eu", tokens: 1 };

  constructor(dice: Dice, values: Values, setup: Pick<Setup, "hives" | "bus" | "store">) {
    this.dice = dice;
    this.values = values;
    this.setup = setup;
  }

  endpoints(): HiveEndpoint[] {
    const { values } = this;
    const dice = this.dice;
    return IDS.slice(0, dice.between(1, IDS.length)).flatMap((id): HiveEndpoint[] => {
      const limits = (): Omit<HiveEndpoint, "id"> => ({
        ...dice.maybe(0.8, () => ({ rpmLimit: values.requests() })),
        ...dice.maybe(0.5, () => ({ tpmLimit: values.allTokens() })),
        ...dice.maybe(0.15, () => ({ inputTpmLimit: values.someTokens() })),
        ...dice.maybe(0.1, () => ({ outputTpmLimit: values.someTokens() })),
        ...dice.maybe(0.15, () => ({ maxInFlightPerProcess: dice.pick([0, 1, 3]) })),
        ...dice.maybe(0.1, () => ({
          limits: [{ dimension: "requests", limit: dice.pick([1, 3, 20]), windowMs: dice.pick([SECOND, MINUTE / 4]) }],
        })),
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

  keys(): Record<string, HiveKeyLimits> {
    const dice = this.dice;
    return Object.fromEntries(
      KEYS.filter(() => dice.chance(0.5)).map((key) => [
        key,
        {
          ...dice.maybe(0.7, () => ({ rpmLimit: dice.pick([0, 1, 5, 20]) })),
          ...dice.maybe(0.4, () => ({ tpmLimit: dice.pick([100, 1_000]) })),
        },
      ]),
    );
  }

  command(): Command {
    const { values } = this;
    const dice = this.dice;
    const hive = dice.between(0, this.setup.hives - 1);
    const lease = dice.between(0, 30);
    const endpoint = dice.pick(IDS);
    const faults = this.setup.bus === "none" ? 0 : 1;
    return dice.weighted<() => Command>([
      [20, () => ({ do: "acquire", hive, ask: this.ask() })],
      [14, () => ({ do: "try", hive, ask: this.ask() })],
      [3, () => ({ do: "retry", hive, ask: this.ask() })],
      [3, () => ({ do: "probe", hive, endpoint, ...dice.maybe(0.3, () => ({ model: dice.pick(MODELS) })) })],
      [2, () => ({ do: "route", hive, ask: this.ask() })],
      [10, () => ({ do: "done", lease, ...dice.maybe(0.6, () => ({ part: dice.pick([0, 0.2, 1, 1.5, 3]) })) })],
      [3, () => ({ do: "cancel", lease })],
      [1, () => ({ do: "renew", lease })],
      [4, () => this.#refused(lease)],
      [4, () => ({ do: "abort", signal: dice.between(0, 2) })],
      [3, () => ({ do: "observe", hive, observation: this.#observation() })],
      [2, () => ({ do: "announce", hive, endpoint, ...dice.maybe(0.5, () => ({ retryAfterMs: 2_000 })) })],
      [0.15 * faults, () => ({ do: "cuts", hive, endpoint, count: MANY_CUTS })],
      [0.01, () => ({ do: "burst", hive, endpoint, count: MANY_CALLS })],
      [2, () => this.#reconfigure(hive)],
      [4, () => ({ do: "illegal", hive, call: dice.between(0, ILLEGAL_CALLS.length - 1) })],
      [2, () => ({ do: "listen", hive, how: dice.pick(["throws", "reenters", "ends"] as const) })],
      [16, () => ({ do: "pass", ms: dice.pick([1, 50, 900, 3 * SECOND, 3 * SECOND, 20 * SECOND, MINUTE]) })],
      [1, () => ({ do: "sleep", ms: values.idleMs() })],
      [1, () => ({ do: "restart", hive, ...dice.maybe(0.3, () => ({ drainMs: 5 * SECOND })) })],
      [faults, () => ({ do: "partition", hive, forMs: dice.pick([3 * SECOND, 30 * SECOND]) })],
      [faults, () => ({ do: "outage", forMs: dice.pick([3 * SECOND, 30 * SECOND]) })],
    ])();
  }

  /**
   * Sometimes repeats the previous call, or the same call for one of its candidates, so that calls of one kind compete.
   */
  protected ask(): Ask {
    const dice = this.dice;
    const { route, ...same } = this.#last;
    const isAgain = dice.chance(0.3);
    if (isAgain) this.#last = route && dice.chance(0.5) ? { ...same, endpoint: dice.pick(route) } : this.#last;
    else this.#last = this.#newAsk();
    return this.#last;
  }

  #newAsk(): Ask {
    const { values } = this;
    const dice = this.dice;
    return {
      ...(dice.chance(0.3) ? { route: dice.some(IDS) } : { endpoint: dice.pick(IDS) }),
      ...dice.maybe(0.3, () => ({ model: dice.pick(MODELS) })),
      ...dice.maybe(0.4, () => ({ key: dice.pick([...KEYS, "demand"]) })),
      ...dice.maybe(0.1, () => ({ session: dice.pick(["a", "b"]) })),
      ...dice.maybe(0.97, () => ({ tokens: values.cost() })),
      ...dice.maybe(0.1, () => ({ inputTokens: values.cost() })),
      ...dice.maybe(0.1, () => ({ outputTokens: values.cost() })),
      ...dice.maybe(0.3, () => ({ timeoutMs: dice.pick([0, 500, 30 * SECOND]) })),
      ...dice.maybe(0.2, () => ({ priority: dice.between(-3, 10) })),
      ...dice.maybe(0.4, () => ({ signal: dice.between(0, 2) })),
    };
  }

  #refused(lease: number): Command {
    const dice = this.dice;
    return {
      do: "refused",
      lease,
      ...dice.maybe(0.5, () => ({ retryAfterMs: dice.pick([0, 0.5, 300, 5 * SECOND, 90 * SECOND]) })),
      ...dice.maybe(0.3, () => ({ kind: "overload" as const })),
    };
  }

  #observation(): LimitObservation {
    const { values } = this;
    const dice = this.dice;
    const one = () => ({
      ...dice.maybe(0.8, () => ({ limit: values.learned() })),
      ...dice.maybe(0.6, () => ({ remaining: dice.pick([0, 1, 30, 2_000]) })),
      ...dice.maybe(0.3, () => ({ resetMs: dice.pick([0, 10 * SECOND]) })),
      ...dice.maybe(0.3, () => ({ windowMs: values.learnedWindowMs() })),
    });
    const dimensions = dice.some(["requests", "tokens", "input_tokens", "output_tokens"] as const);
    return {
      endpoint: dice.pick(IDS),
      ...dice.maybe(0.3, () => ({ model: dice.pick(MODELS) })),
      ...dice.maybe(0.3, () => ({ sentAgoMs: dice.pick([0, 2 * SECOND, MINUTE]) })),
      limits: Object.fromEntries(dimensions.map((dimension) => [dimension, one()])),
    };
  }

  #reconfigure(hive: number): Command {
    const dice = this.dice;
    return {
      do: "reconfigure",
      ...dice.maybe(0.3, () => ({ hive })),
      ...dice.maybe(0.8, () => ({ endpoints: this.endpoints() })),
      ...dice.maybe(0.4, () => ({ keys: this.keys() })),
    };
  }
}
