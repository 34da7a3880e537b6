import type { EndpointConfig, KeyLimits, RateRequest } from "@hivepace/core";
import { Dice } from "../core/dice.ts";
import type { Program } from "../core/subject.ts";
import { ILLEGAL_CALLS } from "./illegal-calls.ts";
import type { Command, Setup } from "./program.ts";

const SECOND = 1_000;
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const IDS = ["eu", "us"] as const;
const MODELS = ["large", "small"] as const;
const KEYS = ["acme", "beta"] as const;

/** Generates a random program over `RateManager`. */
export function generate(seed: number): Program<Setup, Command> {
  const dice = new Dice(seed);
  const window = dice.pick(["fixed", "fixed", "sliding"] as const);
  const hasRephase = window === "fixed" && dice.chance(0.2);
  const writer = new Writer(dice, hasRephase);
  return {
    seed,
    setup: {
      windowMs: dice.pick([MINUTE, 10 * SECOND, SECOND]),
      window,
      isShared: dice.chance(0.1),
      ...dice.maybe(0.2, () => ({ mockEndpointTpmThreshold: 4_000 })),
      endpoints: IDS.slice(0, dice.between(1, 2)).flatMap((id) => writer.endpoints(id)),
      keys: writer.keys(),
    },
    commands: Array.from({ length: dice.between(5, 80) }, () => writer.command()),
  };
}

class Writer {
  readonly #dice: Dice;
  readonly #hasRephase: boolean;

  constructor(dice: Dice, hasRephase: boolean) {
    this.#dice = dice;
    this.#hasRephase = hasRephase;
  }

  endpoints(id: string): EndpointConfig[] {
    const dice = this.#dice;
    if (dice.chance(0.15)) return [this.#endpoint({ id }), this.#endpoint({ id, models: [...MODELS] })];
    return dice.chance(0.3)
      ? [this.#endpoint({ id }), this.#endpoint({ id, model: MODELS[0] })]
      : [this.#endpoint({ id })];
  }

  #endpoint(of: Pick<EndpointConfig, "id" | "model" | "models">): EndpointConfig {
    const dice = this.#dice;
    return {
      ...of,
      ...dice.maybe(0.8, () => ({ rpmLimit: dice.pick([0, 1, 2, 2.5, 5, 30, ...this.#slow(0.5)]) })),
      ...dice.maybe(0.6, () => ({ tpmLimit: dice.pick([0, 100, 1_000, 5_000, ...this.#slow(0.25)]) })),
      ...dice.maybe(0.2, () => ({ inputTpmLimit: dice.pick([100, 1_000]) })),
      ...dice.maybe(0.2, () => ({ outputTpmLimit: dice.pick([50, 1_000]) })),
      ...dice.maybe(0.2, () => ({ maxInFlightPerProcess: dice.pick([0, 1, 3]) })),
    };
  }

  /**
   * Limits below one per window, unless the program shifts the windows: such limits depend on the numbers of windows.
   */
  #slow(limit: number): number[] {
    return this.#hasRephase ? [] : [limit];
  }

  #limits(): KeyLimits {
    const dice = this.#dice;
    return {
      ...dice.maybe(0.7, () => ({ rpmLimit: dice.pick([0, 1, 5, 20, ...this.#slow(0.5)]) })),
      ...dice.maybe(0.5, () => ({ tpmLimit: dice.pick([100, 1_000]) })),
    };
  }

  keys(): Record<string, KeyLimits> {
    return Object.fromEntries(KEYS.filter(() => this.#dice.chance(0.5)).map((key) => [key, this.#limits()]));
  }

  #request(): RateRequest {
    const dice = this.#dice;
    return {
      endpoint: dice.pick(IDS),
      ...dice.maybe(0.4, () => ({ model: dice.pick([...MODELS, "unheard-of"]) })),
      ...dice.maybe(0.5, () => ({ key: dice.pick([...KEYS, "demand"]) })),
      tokens: dice.pick([0, 1, 10, 90, 400, 3_000, 12.5]),
      ...dice.maybe(0.2, () => ({ inputTokens: dice.pick([0, 5, 80]) })),
      ...dice.maybe(0.2, () => ({ outputTokens: dice.pick([0, 5, 60.5]) })),
    };
  }

  command(): Command {
    const dice = this.#dice;
    const via = dice.between(0, 1);
    const id = dice.pick(IDS);
    const decision = dice.between(0, 20);
    return dice.weighted<() => Command>([
      [30, () => ({ do: "check", via, request: this.#request() })],
      [8, () => ({ do: "peek", via, request: this.#request() })],
      [10, () => ({ do: "handle", via, request: this.#request() })],
      [
        12,
        () => ({
          do: "settle",
          via,
          decision,
          tokens: dice.pick([0, 5, 90, 400, 2_000]),
          ...dice.maybe(0.3, () => ({ inputTokens: dice.pick([0, 70]) })),
          ...dice.maybe(0.3, () => ({ outputTokens: dice.pick([0, 30]) })),
        }),
      ],
      [6, () => ({ do: "cancel", via, decision })],
      [6, () => ({ do: "set", via, endpoint: dice.pick(this.endpoints(id)) })],
      [2, () => ({ do: "remove", via, id, ...dice.maybe(0.5, () => ({ model: MODELS[0] })) })],
      [3, () => ({ do: "set-key", via, id: dice.pick(KEYS), limits: this.#limits() })],
      [1, () => ({ do: "remove-key", via, id: dice.pick(KEYS) })],
      [2, () => ({ do: "load", via, config: this.#config() })],
      [this.#hasRephase ? 2 : 0, () => ({ do: "rephase", via, aheadMs: dice.between(-MINUTE, MINUTE) })],
      [4, () => ({ do: "illegal", via, call: dice.between(0, ILLEGAL_CALLS.length - 1) })],
      [20, () => ({ do: "pass", ms: dice.pick([1, 50, 900, 3 * SECOND, 20 * SECOND, MINUTE]) })],
      [1, () => ({ do: "pass", ms: dice.pick([DAY, 40 * DAY, 800 * DAY]) })],
    ])();
  }

  #config() {
    const dice = this.#dice;
    return {
      ...dice.maybe(0.8, () => ({ endpoints: IDS.flatMap((id) => (dice.chance(0.7) ? this.endpoints(id) : [])) })),
      ...dice.maybe(0.5, () => ({ keys: this.keys() })),
    };
  }
}
