import { systemClock } from "@hivepace/core";
import { NodeRedisAdapter } from "./commands.ts";
import { duplicateOf, followClient } from "./lent-client.ts";
import { follow, type NodeRedisClient, type NodeRedisSentinel } from "./library.ts";
import type { OwnNodeClient } from "./own-client.ts";

/** A method that node-redis does not declare: calls `work` with the client of the current master. */
interface Undeclared {
  _execute?(
    isReadonly: boolean,
    work: (client: NodeRedisClient) => Promise<{ client: NodeRedisClient }>,
  ): Promise<{ client: NodeRedisClient }>;
}

/** Milliseconds before another search for the master. */
const RETRY_MS = 100;

/** A lent Sentinel client of node-redis; commands go to the current master. */
export class LentNodeSentinel extends NodeRedisAdapter {
  readonly options = {};
  protected target: NodeRedisClient | undefined;
  readonly #sentinel: NodeRedisSentinel;
  #looking: Promise<void> | undefined;
  #unfollow = (): void => {};

  constructor(sentinel: NodeRedisSentinel) {
    super();
    this.#sentinel = sentinel;
    this.#look();
  }

  get status(): "connecting" | "ready" | "end" {
    if (this.target?.isReady) return "ready";
    if (!this.#sentinel.isOpen) return "end";
    this.#look();
    return "connecting";
  }

  async connect(): Promise<void> {}

  /** Does nothing: only the owner ends a lent client. */
  disconnect(): void {}

  duplicate(override: { readonly connectTimeout?: number } = {}): OwnNodeClient {
    return duplicateOf(() => this.#master(), override.connectTimeout);
  }

  async #master(): Promise<NodeRedisClient> {
    if (!this.target?.isOpen) {
      this.#look();
      await this.#looking;
    }
    if (!this.target) throw new Error("no master is known");
    return this.target;
  }

  protected watch(): () => void {
    const unfollow = follow(this.#sentinel, { error: (error: unknown) => this.emit("error", error) });
    this.#followTarget();
    return () => {
      unfollow();
      this.#unfollow();
    };
  }

  #look(): void {
    if (this.#looking || !this.#sentinel.isOpen) return;
    const { _execute: execute } = this.#sentinel as Undeclared;
    // node-redis awaits the result of `work`, so the client is wrapped in an object that is no promise.
    const work = async (client: NodeRedisClient) => ({ client });
    const found = execute
      ? execute.call(this.#sentinel, false, work)
      : Promise.reject(new Error("this version of node-redis does not expose the client of the master"));
    this.#looking = found.then(
      ({ client }) => {
        this.#looking = undefined;
        this.target = client;
        if (this.isWatched) this.#followTarget();
        if (client.isReady) this.emit("ready");
      },
      (error: unknown) => {
        this.#looking = undefined;
        this.emit("close", error);
        if (!this.#sentinel.isOpen) this.emit("end");
        else if (this.isWatched) systemClock.after(RETRY_MS, () => this.#look(), { background: true });
      },
    );
  }

  #followTarget(): void {
    this.#unfollow();
    const { target } = this;
    if (!target) return;
    this.#unfollow = followClient(target, (event, ...args) => {
      // The Sentinel client replaces a master that went away.
      if (event === "end" && this.#sentinel.isOpen) this.#look();
      else this.emit(event, ...args);
    });
  }
}
