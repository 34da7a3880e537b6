import { seededRandom } from "@hivepace/core/testing";
import { CAPACITY_SUBJECT, PRESENCE_SUBJECT } from "../../src/index.ts";
import { MessageChain } from "../../src/limiter/message-chain.ts";
import { levelSaid } from "./level-said.ts";

export interface HostileMessage {
  readonly subject: string;
  readonly message: object;
  /** Links the message to the earlier ones of the agent that sends it. */
  readonly chain?: MessageChain | undefined;
}

type Spoken = Readonly<Record<string, unknown>> & {
  readonly agent_id?: string;
  readonly seq: number;
  readonly life: number;
};

const MOST = Number.MAX_SAFE_INTEGER;

/** Well-formed messages of an attacker, none of which an honest agent would send now. */
export class HostileMessages {
  readonly #random: () => number;
  readonly #resource: string;
  readonly #limit: number;
  readonly #windowMs: number;
  /** Links of invented agents, most of which speak several times. */
  readonly #chains = new Map<string, MessageChain>();
  #invented = 0;

  /** The same seed makes the same messages. */
  constructor(seed: number, resource: string, limit: number, windowMs: number) {
    this.#random = seededRandom(seed);
    this.#resource = resource;
    this.#limit = limit;
    this.#windowMs = windowMs;
  }

  whole(below: number): number {
    return Math.floor(this.#random() * below);
  }

  /** `spoken` are the latest messages of the real agents, which any reader of the bus can see. */
  next(spoken: readonly Spoken[]): HostileMessage {
    if (this.whole(8) === 0) return this.#announcement();
    const real = spoken.length > 0 && this.whole(2) === 0 ? this.#pick(spoken) : undefined;
    const message = this.#hostile(real ? { ...real, seq: real.seq + 1 } : this.#inventedAgent());
    if (real) return { subject: PRESENCE_SUBJECT, message: { ...message, chain: this.#forgedLink(real["chain"]) } };
    return { subject: PRESENCE_SUBJECT, message, chain: this.#chainOf(message) };
  }

  /** The next link of a real agent is unknown: the last one, none, or another. */
  #forgedLink(last: unknown): unknown {
    const { part = 1, n = 0, link = "" } = (last ?? {}) as { part?: number; n?: number; link?: string };
    const other = { part: part + this.whole(2), n: 1 + ((n + this.whole(3)) % 1_000), link: link.toUpperCase() };
    return this.#pick([undefined, undefined, last, other]);
  }

  #chainOf({ agent_id, life }: Spoken): MessageChain | undefined {
    if (this.whole(3) === 0) return undefined;
    const key = `${agent_id} ${life}`;
    const chain = this.#chains.get(key) ?? new MessageChain();
    this.#chains.set(key, chain);
    return chain;
  }

  #inventedAgent(): Spoken {
    const [life, seq, up_ms] = [this.whole(3), 1 + this.whole(100), this.#pick([0, 500, 60_000, 1e9])];
    const agent_id = `stranger-${this.whole(3) === 0 ? this.whole(5) : this.#invented++}`;
    return { v: 1, agent_id, life, seq, up_ms, next_ms: 1_000, weight: 1, members: 2, pools: [this.#pool()] };
  }

  #pool(): object {
    return { resource: this.#resource, window_ms: this.#windowMs, limits: [this.#limit], turn: 0 };
  }

  #hostile(message: Spoken): Spoken {
    const pools = (message["pools"] as object[] | undefined) ?? [this.#pool()];
    const inPools = (change: object) => ({ ...message, pools: pools.map((pool) => ({ ...pool, ...change })) });
    const limit = this.#limit;
    const amount = this.#pick([0, 1, limit / 2, limit, 1e9, MOST]);
    switch (this.whole(13)) {
      case 0:
        return { ...message, bye: true };
      case 1:
        return { ...message, seq: message.seq + this.#pick([-5, 1, 90, 1e6, MOST - message.seq]) };
      case 2:
        return { ...message, life: Math.max(0, Math.min(MOST, message.life + this.#pick([-1, 1, 1e9, MOST]))) };
      case 3:
        return { ...message, weight: this.#pick([1e-6, 1e6]), members: this.#pick([1, 1e6]) };
      case 4:
        return { ...message, next_ms: this.#pick([0, 3_600_000]), up_ms: this.#pick([0, 1e11]) };
      case 5:
        return inPools({ turn: this.#pick([0, 1e3, MOST]) });
      case 6:
        return inPools({ limits: [this.#pick([1e-9, 1, MOST])] });
      case 7:
        return inPools({ sent: [amount], used: [amount], bins: [[amount]] });
      case 8: {
        const claim = { amounts: [amount], next: [amount], turn: this.#pick([0, MOST]), tie: 0, waited_ms: 1e9 };
        return inPools({ claim, waiting: [amount] });
      }
      case 9: {
        const sent = pools.map((pool) => (pool as { sent?: number[] }).sent?.[0] ?? amount);
        const back_age_ms = this.#pick([0, 1_000, this.#windowMs]);
        const refunded = (pool: object, i: number) => ({ ...pool, sent: [sent[i]], back: [sent[i]], back_age_ms });
        return { ...message, pools: pools.map(refunded) };
      }
      case 10: {
        // Usage that leaves the window soon, to be taken back later.
        const bins = Array.from({ length: 12 }, (_, i) => [i === 11 ? limit : 0]);
        return inPools({ sent: [limit], used: [limit], bins });
      }
      case 11:
        return inPools({ level: this.#level() });
      default:
        return inPools({ seen: [[amount], [amount]], waiting: [amount], tried: true });
    }
  }

  #level(): object {
    return levelSaid({
      epoch: this.#pick([1, 2, 10, 900, 1e15]),
      base: this.#pick([1e-9, 0.1, 0.5, 1, 1_000]),
      most: this.#pick([1, 1_000]),
      recovery_factor: this.#pick([1, 1.1, 1_000]),
      recovery_interval_ms: this.#pick([1, 30_000, 2e9]),
      cut_age_ms: this.#pick([0, 60_000, 1e11]),
      pause_age_ms: this.#pick([0, 60_000]),
      pause_ms: this.#pick([0, 60_000, 2e9]),
    });
  }

  #announcement(): HostileMessage {
    const [agent_id, reason] = ["a stranger", "429"];
    const timestamp = new Date(this.whole(1e12)).toISOString();
    const five = { resource: this.#resource, agent_id, new_capacity: 1 + this.whole(this.#limit), reason, timestamp };
    const ours = { v: 1, life: this.whole(1e6), seq: 1 + this.whole(1e6), level: this.#level() };
    return { subject: CAPACITY_SUBJECT, message: this.whole(2) === 0 ? five : { ...five, ...ours } };
  }

  #pick<T>(values: readonly T[]): T {
    return values[this.whole(values.length)] as T;
  }
}
