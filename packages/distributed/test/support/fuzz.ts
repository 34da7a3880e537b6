import { seededRandom } from "@hivepace/core/testing";
import { bytes } from "@hivepace/test-kit";

/** Generates invalid messages: real ones with a corrupted part, and plain noise. */
export class Fuzzer {
  readonly #random: () => number;
  readonly #samples: readonly string[];

  /** Equal seeds give equal messages. */
  constructor(seed: number, samples: readonly string[]) {
    this.#random = seededRandom(seed);
    this.#samples = samples;
  }

  next(): Uint8Array {
    const sample = this.#pick(this.#samples);
    switch (this.#whole(5)) {
      case 0:
        return Uint8Array.from({ length: this.#whole(300) }, () => this.#whole(256));
      case 1:
        return bytes(sample.slice(0, this.#whole(sample.length)));
      case 2:
        return bytes(this.#withoutQuote(sample));
      default:
        return bytes(JSON.stringify(this.#spoilt(JSON.parse(sample) as Record<string, unknown>)));
    }
  }

  /** Gives a random field, at any depth, an invalid value. */
  #spoilt(message: Record<string, unknown>): unknown {
    const [holder, name] = this.#pick([...fieldsOf(message)]);
    holder[name] = this.#pick(BAD[RULES[name] as keyof typeof BAD]);
    return message;
  }

  #withoutQuote(sample: string): string {
    const quotes = [...sample.matchAll(/"/g)].map(({ index }) => index);
    const index = this.#pick(quotes);
    return sample.slice(0, index) + sample.slice(index + 1);
  }

  #pick<T>(values: readonly T[]): T {
    return values[this.#whole(values.length)] as T;
  }

  #whole(below: number): number {
    return Math.floor(this.#random() * below);
  }
}

type Holder = Record<string, unknown>;

/** Yields every field with known invalid values, together with the object that contains it. */
function* fieldsOf(holder: Holder): Generator<readonly [Holder, string]> {
  for (const [name, value] of Object.entries(holder)) {
    if (Object.hasOwn(RULES, name)) yield [holder, name];
    for (const inner of Array.isArray(value) ? value : [value])
      if (typeof inner === "object" && inner !== null && !Array.isArray(inner)) yield* fieldsOf(inner as Holder);
  }
}

/** The kind of each field, which selects its invalid values. */
const RULES: Readonly<Record<string, string>> = {
  v: "version",
  agent_id: "text",
  resource: "text",
  timestamp: "text",
  origin: "text",
  new_capacity: "count",
  seq: "count",
  members: "count",
  epoch: "count",
  weight: "count",
  window_ms: "count",
  recovery_interval_ms: "count",
  life: "whole",
  round: "whole",
  tie: "whole",
  up_ms: "amount",
  next_ms: "amount",
  cut_age_ms: "amount",
  pause_age_ms: "amount",
  pause_ms: "amount",
  waited_ms: "amount",
  turn: "amount",
  base: "part",
  pools: "list",
  limits: "limits",
  sent: "amounts",
  used: "amounts",
  waiting: "amounts",
  amounts: "amounts",
  next: "amounts",
  bins: "bins",
  seen: "bins",
  level: "object",
  claim: "object",
};

const NONE = [null, {}, "", [], [[]], true, -1, -1e308];
const AMOUNTS = [null, {}, "1", 1, [], [-1], [null], ["1"], [[1]], [1e300]];
const BAD = {
  version: [null, {}, "1", -1, "x"],
  text: [...NONE, 0, 1, "x".repeat(5_000)],
  count: [...NONE, 0, -0.5, 1e300, "1", "NaN"],
  whole: [...NONE, 0.5, 1e300],
  amount: [...NONE, 1e300],
  part: [...NONE, 0, 1_001, "0.5"],
  list: [null, {}, "x", 1, [null], [1], [{}], [{ resource: "api" }], [{ resource: "api", limits: [] }]],
  amounts: [...AMOUNTS, [1, 1]],
  limits: [...AMOUNTS, [0]],
  bins: [null, {}, 1, [1], [null], [[]], [[-1]], [[1, 1]], Array.from({ length: 1_000 }, () => [0])],
  object: [null, [], "x", 1, {}, { epoch: 1 }, { epoch: 1e300, base: 0.5 }],
};
