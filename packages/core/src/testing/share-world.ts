import type { ShareAnswer, SharePool, ShareReport, ShareStore } from "../share-store.ts";
import { eventually } from "./sync-world.ts";

/** So short that a store has learned soon. */
export const HEARTBEAT_MS = 20;

/** What a law is tested in: a namespace that nobody else uses, and agents that keep what they were told. */
export interface ShareWorld {
  readonly namespace: string;
  open(): Promise<ShareStore>;
  agent(id: string, options?: ShareAgentOptions): Promise<ShareAgent>;
}

export interface ShareAgentOptions {
  readonly store?: ShareStore;
  readonly limits?: readonly number[];
  readonly life?: number;
  readonly weight?: number;
  readonly name?: string;
  readonly namespace?: string;
  readonly windowMs?: number;
  readonly nextMs?: number;
}

export type ShareLaw = readonly [name: string, body: (world: ShareWorld) => Promise<void>];

/** An agent as a store sees it: uses what it is allowed, reports it, and wants more. */
export class ShareAgent {
  readonly store: ShareStore;
  readonly #head: Omit<ShareReport, "sequence" | "bye" | "pools">;
  readonly #pool: Pick<SharePool, "name" | "windowMs" | "limits">;
  sequence = 0;
  stamp = 0;
  sent: number[];
  allowed: number[];
  answer: ShareAnswer | undefined;

  constructor(store: ShareStore, namespace: string, agentId: string, options: ShareAgentOptions) {
    const { life = 1, weight = 1, nextMs = 1e9, name = "pool", windowMs = 1e9, limits = [100] } = options;
    this.store = store;
    this.#head = {
      namespace: options.namespace ?? namespace,
      agentId,
      life,
      weight,
      heartbeatMs: HEARTBEAT_MS,
      nextMs,
    };
    this.#pool = { name, windowMs, limits };
    this.sent = limits.map(() => 0);
    this.allowed = limits.map(() => 0);
  }

  /** What it has and has not used, of the first amount. */
  get left(): number {
    return (this.allowed[0] ?? 0) - (this.sent[0] ?? 0);
  }

  use(...amounts: number[]): void {
    this.sent = this.sent.map((sent, i) => sent + (amounts[i] ?? 0));
  }

  report(pool: Partial<SharePool> = {}, head: Partial<ShareReport> = {}): ShareReport {
    const nothing = this.sent.map(() => 0);
    const said: SharePool = {
      ...this.#pool,
      headroom: 0,
      least: 0.01,
      stamp: this.stamp,
      sent: this.sent,
      back: nothing,
      sentAgoMs: 0,
      backAgoMs: 0,
      allowed: this.allowed,
      bins: [this.sent],
      next: (pool.all ?? nothing).map((amount) => Math.min(1, amount)),
      all: nothing,
      level: undefined,
      crowd: undefined,
      ...pool,
    };
    return { ...this.#head, sequence: ++this.sequence, bye: false, pools: [said], ...head };
  }

  /** One call, after which it has what it was told. */
  async ask(pool: Partial<SharePool> = {}, head: Partial<ShareReport> = {}): Promise<ShareAnswer> {
    const { pools } = await this.store.share(this.report(pool, head));
    const answer = pools[0] as ShareAnswer;
    this.answer = answer;
    this.stamp = Math.max(this.stamp, answer.stamp);
    if (!answer.error && !answer.isLearning) this.allowed = [...answer.allowed];
    return answer;
  }

  /** Asks until the store has learned. */
  learned(pool: Partial<SharePool> = {}): Promise<ShareAnswer> {
    return eventually(async () => {
      const answer = await this.ask(pool);
      return answer.isLearning ? undefined : answer;
    }, "the store has learned");
  }
}

let worlds = 0;
const run = Math.random().toString(36).slice(2, 8);

export async function inShareWorld(
  open: () => Promise<ShareStore & { close(): Promise<void> }>,
  body: (world: ShareWorld) => Promise<void>,
): Promise<void> {
  const opened: { close(): Promise<void> }[] = [];
  const namespace = `shares-${run}-${worlds++}`;
  const openOne = async () => {
    const store = await open();
    opened.push(store);
    return store;
  };
  try {
    await body({
      namespace,
      open: openOne,
      async agent(id, options = {}) {
        return new ShareAgent(options.store ?? (await openOne()), namespace, id, options);
      },
    });
  } finally {
    await Promise.all(opened.map((store) => store.close()));
  }
}

export const near = (actual: number, expected: number, what: string): void => {
  if (!(Math.abs(actual - expected) <= 1e-6 * Math.max(1, Math.abs(expected))))
    throw new Error(`${what}: expected ${expected}, got ${actual}`);
};

export const within = (actual: number, least: number, most: number, what: string): void => {
  if (!(actual >= least - 1e-6 && actual <= most + 1e-6))
    throw new Error(`${what}: expected ${least} to ${most}, got ${actual}`);
};
