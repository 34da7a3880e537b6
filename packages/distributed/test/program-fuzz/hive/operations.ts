import type { HiveEndpoint, HiveKeyLimits } from "../../../src/index.ts";
import { ILLEGAL_CALLS, ILLEGAL_OPERATIONS } from "./illegal-calls.ts";
import type { Ask, Command, Work } from "./program.ts";
import { MINUTE, SECOND } from "./values.ts";
import { IDS, MODELS, Writer } from "./writer.ts";

/** The fraction of commands that are operations; the others are the usual ones. */
const OPERATIONS = 0.35;

/** Writes programs over the whole API of a hive: limits on calls under way, parks, pauses, pools, tiers, and work. */
export class OperationsWriter extends Writer {
  override endpoints(): HiveEndpoint[] {
    return super.endpoints().map((endpoint) => this.#extended(endpoint));
  }

  override keys(): Record<string, HiveKeyLimits> {
    const entries = Object.entries(super.keys());
    return Object.fromEntries(entries.map(([key, limits]) => [key, { ...limits, ...this.#slots(0.3) }]));
  }

  override command(): Command {
    const { dice } = this;
    if (!dice.chance(OPERATIONS)) return super.command();
    const hive = dice.between(0, this.setup.hives - 1);
    const one = dice.maybe(0.4, () => ({ hive }));
    const lease = dice.between(0, 30);
    const endpoint = dice.pick(IDS);
    const model = dice.maybe(0.3, () => ({ model: dice.pick(MODELS) }));
    return dice.weighted<() => Command>([
      [8, () => ({ do: "run", hive, ask: this.ask(), work: this.#work() })],
      [4, () => ({ do: "failed", lease, ...this.#failure() })],
      [2, () => ({ do: "answered", lease })],
      [4, () => ({ do: "refused", lease, ...this.#quota() })],
      [3, () => ({ do: "park", hive, endpoint, ...model, ...dice.maybe(0.6, () => ({ forMs: this.#parkMs() })) })],
      [2, () => ({ do: "unpark", hive, endpoint, ...model })],
      [2, () => ({ do: "hold", hive })],
      [3, () => ({ do: "resume", hive })],
      [2, () => ({ do: "add", ...one, endpoint: dice.pick(this.endpoints()) })],
      [1, () => ({ do: "drop", ...one, endpoint, ...model })],
      [4, () => ({ do: "probe", hive, endpoint, ...model })],
      [2, () => ({ do: "retry", hive, ask: this.ask() })],
      [2, () => ({ do: "illegal", hive, call: ILLEGAL_CALLS.length + dice.between(0, ILLEGAL_OPERATIONS.length - 1) })],
    ])();
  }

  protected override ask(): Ask {
    const { dice } = this;
    const ask = super.ask();
    const { route } = ask;
    if (!route || route.length < 2 || !dice.chance(0.3)) return ask;
    return { ...ask, firstTier: dice.between(1, route.length - 1) };
  }

  #extended(endpoint: HiveEndpoint): HiveEndpoint {
    const { model } = endpoint;
    const isPool = model !== undefined && this.dice.chance(0.4);
    const { model: _, ...pooled } = endpoint;
    return { ...(isPool ? { ...pooled, models: [...MODELS] } : endpoint), ...this.#slots(0.4) };
  }

  #slots(chance: number): Pick<HiveEndpoint, "maxInFlight"> {
    const { dice, setup } = this;
    const adaptive = { min: 1, max: dice.pick([2, 5]) };
    const isAdaptive = setup.store === "none" && dice.chance(0.2);
    return dice.maybe(chance, () => ({ maxInFlight: isAdaptive ? { adaptive } : dice.pick([1, 2, 3, 10]) }));
  }

  #work(): Work {
    const { dice } = this;
    return {
      forMs: dice.pick([0, 1, 700, 5 * SECOND, 40 * SECOND]),
      outcome: dice.pick(["succeeds", "uses", "uses", "fails", "limit", "overload"] as const),
      ...dice.maybe(0.7, () => ({ part: dice.pick([0, 0.2, 1, 1.5]) })),
    };
  }

  #failure(): Omit<Extract<Command, { do: "failed" }>, "do" | "lease"> {
    const { dice } = this;
    return {
      ...dice.maybe(0.5, () => ({ concerns: dice.pick(["model", "endpoint"] as const) })),
      ...dice.maybe(0.3, () => ({ wasSent: dice.chance(0.5) })),
      ...dice.maybe(0.2, () => ({ byCaller: true })),
    };
  }

  #quota(): Omit<Extract<Command, { do: "refused" }>, "do" | "lease"> {
    const { dice } = this;
    return {
      kind: dice.pick(["quota", "overload", "overload"] as const),
      ...dice.maybe(0.6, () => ({ retryAfterMs: dice.pick([0, 2 * SECOND, 3 * MINUTE, 60 * MINUTE]) })),
      ...dice.maybe(0.4, () => ({ concerns: dice.pick(["model", "endpoint"] as const) })),
    };
  }

  #parkMs(): number {
    return this.dice.pick([1, 3 * SECOND, 5 * MINUTE, 24 * 60 * MINUTE]);
  }
}
