import {
  type ShareAnswer,
  type ShareReply,
  type ShareReport,
  type SyncStore,
  SyncUnavailableError,
} from "@hivepace/core";

/** A store whose calls may fail, and that notes what it said. */
export class HookedShares implements SyncStore {
  readonly name = "hooked";
  readonly #store: SyncStore;
  /** Whether this call fails. */
  fails: () => boolean = () => false;
  calls = 0;
  learning = 0;
  onAnswer: (answer: ShareAnswer) => void = () => {};
  /** What becomes of an answer on its way. */
  change: (answer: ShareAnswer) => ShareAnswer = (answer) => answer;

  constructor(store: SyncStore) {
    this.#store = store;
  }

  async share(report: ShareReport): Promise<ShareReply> {
    this.calls++;
    if (this.fails()) throw new SyncUnavailableError(this.name, "as the test wants it");
    const reply = await (this.#store.share?.(report) as Promise<ShareReply>);
    if (reply.pools.some(({ isLearning, error }) => isLearning && error === undefined)) this.learning++;
    for (const answer of reply.pools) this.onAnswer(answer);
    return { ...reply, pools: reply.pools.map((answer) => this.change(answer)) };
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
