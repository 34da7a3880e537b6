import {
  type AllocationReply,
  type AllocationRequest,
  type QuotaReply,
  type SyncStore,
  SyncUnavailableError,
} from "@hivepace/core";

/** A store whose calls may fail, and whose answers a test can observe and change. */
export class HookedAllocator implements SyncStore {
  readonly name = "hooked";
  readonly #store: SyncStore;
  /** Whether the next call fails. */
  fails: () => boolean = () => false;
  calls = 0;
  learning = 0;
  /** Errors of the store, oldest first. */
  readonly failures: unknown[] = [];
  onAnswer: (answer: QuotaReply) => void = () => {};
  /** Changes an answer on its way to the agent. */
  change: (answer: QuotaReply) => QuotaReply = (answer) => answer;

  constructor(store: SyncStore) {
    this.#store = store;
  }

  async allocate(report: AllocationRequest): Promise<AllocationReply> {
    this.calls++;
    if (this.fails()) throw new SyncUnavailableError(this.name, "as the test wants it");
    let reply: AllocationReply;
    try {
      reply = await (this.#store.allocate?.(report) as Promise<AllocationReply>);
    } catch (error) {
      this.failures.push(error);
      throw error;
    }
    if (reply.quotas.some(({ isLearning, error }) => isLearning && error === undefined)) this.learning++;
    for (const answer of reply.quotas) this.onAnswer(answer);
    return { ...reply, quotas: reply.quotas.map((answer) => this.change(answer)) };
  }

  sync(report: Parameters<SyncStore["sync"]>[0]): ReturnType<SyncStore["sync"]> {
    return this.#store.sync(report);
  }

  close(): Promise<void> {
    return this.#store.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
