import type { AllocationRequest, Allocator, QuotaReply, QuotaRequest } from "../../allocator.ts";
import { eventually } from "../sync-world.ts";

/** A heartbeat so short that a store learns quickly. */
export const HEARTBEAT_MS = 20;

/** The environment of one law: a namespace of its own, and agents that keep their grants. */
export interface AllocatorWorld {
  readonly namespace: string;
  open(): Promise<Allocator>;
  agent(id: string, options?: AllocatorAgentOptions): Promise<AllocatorAgent>;
}

export interface AllocatorAgentOptions {
  readonly store?: Allocator;
  readonly limits?: readonly number[];
  readonly life?: number;
  readonly weight?: number;
  readonly name?: string;
  readonly namespace?: string;
  readonly windowMs?: number;
  readonly nextMs?: number;
}

export type AllocatorLaw = readonly [name: string, body: (world: AllocatorWorld) => Promise<void>];

/** An agent as a store sees it: uses its grants, reports the usage, and asks for more. */
export class AllocatorAgent {
  readonly store: Allocator;
  readonly #head: Omit<AllocationRequest, "sequence" | "bye" | "quotas">;
  readonly #quota: Pick<QuotaRequest, "name" | "windowMs" | "limits">;
  sequence = 0;
  stamp = 0;
  sent: number[];
  allowed: number[];
  answer: QuotaReply | undefined;

  constructor(store: Allocator, namespace: string, agentId: string, options: AllocatorAgentOptions) {
    const { life = 1, weight = 1, nextMs = 1e9, name = "quota", windowMs = 1e9, limits = [100] } = options;
    this.store = store;
    this.#head = {
      namespace: options.namespace ?? namespace,
      agentId,
      life,
      weight,
      heartbeatMs: HEARTBEAT_MS,
      nextMs,
    };
    this.#quota = { name, windowMs, limits };
    this.sent = limits.map(() => 0);
    this.allowed = limits.map(() => 0);
  }

  /** The granted and unused part of the first amount. */
  get left(): number {
    return (this.allowed[0] ?? 0) - (this.sent[0] ?? 0);
  }

  use(...amounts: number[]): void {
    this.sent = this.sent.map((sent, i) => sent + (amounts[i] ?? 0));
  }

  report(pool: Partial<QuotaRequest> = {}, head: Partial<AllocationRequest> = {}): AllocationRequest {
    const nothing = this.sent.map(() => 0);
    const said: QuotaRequest = {
      ...this.#quota,
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
    return { ...this.#head, sequence: ++this.sequence, bye: false, quotas: [said], ...head };
  }

  /** Sends one report and applies the reply. */
  async ask(pool: Partial<QuotaRequest> = {}, head: Partial<AllocationRequest> = {}): Promise<QuotaReply> {
    const { quotas } = await this.store.allocate(this.report(pool, head));
    const answer = quotas[0] as QuotaReply;
    this.answer = answer;
    this.stamp = Math.max(this.stamp, answer.stamp);
    if (!answer.error && !answer.isLearning) this.allowed = [...answer.allowed];
    return answer;
  }

  /** Reports until the store has learned. */
  learned(pool: Partial<QuotaRequest> = {}): Promise<QuotaReply> {
    return eventually(async () => {
      const answer = await this.ask(pool);
      return answer.isLearning ? undefined : answer;
    }, "the store has learned");
  }
}

let worlds = 0;
const run = Math.random().toString(36).slice(2, 8);

export async function inAllocatorWorld(
  open: () => Promise<Allocator & { close(): Promise<void> }>,
  body: (world: AllocatorWorld) => Promise<void>,
): Promise<void> {
  const opened: { close(): Promise<void> }[] = [];
  const namespace = `allocator-${run}-${worlds++}`;
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
        return new AllocatorAgent(options.store ?? (await openOne()), namespace, id, options);
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
