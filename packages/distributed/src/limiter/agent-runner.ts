import type { Clock } from "@hivepace/core";
import {
  type Agent,
  type Amounts,
  type Dimensions,
  type Event,
  type Message,
  planTry,
  type QuotaPart,
  type StoreRequest,
  settleNow,
  step,
  takeNow,
  wakeAfterSettling,
  wakeAfterTaking,
} from "../engine/index.ts";

export interface AgentRunnerOptions {
  readonly agent: Agent;
  readonly clock: Clock;
  readonly publish: (message: Message) => void;
  /** Sends a request to the store. Its reply or failure becomes an event. */
  readonly ask: (ask: StoreRequest) => void;
  /** Serves the waiters of this quota. */
  readonly serve: (quota: string) => void;
  /** Called after every change. Returns the time of the next change without an event. */
  readonly afterStep: (now: number) => number;
}

/** Runs an agent of the engine: passes events to `step` and carries out the effects. */
export class AgentRunner {
  readonly agent: Agent;
  readonly #options: AgentRunnerOptions;
  #cancel: (() => void) | undefined;
  #wakeAt = Infinity;
  /** True while there are waiters, for which the timer keeps the process alive. */
  #isAwaited = false;
  /** Quotas to serve after the present one. Serving causes events, so each quota is queued once. */
  #queue: Set<string> | undefined;
  #isClosed = false;

  constructor(options: AgentRunnerOptions) {
    this.agent = options.agent;
    this.#options = options;
  }

  do(event: Exclude<Event, { type: "take" | "settle" }>, now = this.#options.clock.now()): void {
    if (this.#isClosed) return;
    const { version } = this.agent.availability;
    const effects = step(this.agent, event, now);
    // Most answers do not change the watched state. Watchers are notified of a change before its effects are carried out;
    // of a probe later, because the probing call is being granted.
    const isQuiet = event.type === "probe" || (event.type === "answer" && this.agent.availability.version === version);
    const lookAt = isQuiet ? Infinity : this.#options.afterStep(now);
    if (effects.publish) this.#options.publish(effects.publish);
    if (effects.ask) this.#options.ask(effects.ask);
    this.#plan(Math.min(effects.wakeAt, lookAt), now);
    if (effects.retry.length > 0) this.#serve(effects.retry);
  }

  /** Takes from all of the quotas or from none. A decision never changes the watched state. */
  take(parts: readonly QuotaPart[], now: number): boolean {
    if (this.#isClosed) return false;
    const isTaken = takeNow(this.agent, parts, now);
    this.#plan(wakeAfterTaking(this.agent, parts, now), now);
    return isTaken;
  }

  /**
   * Corrects the usage of a call. Does nothing once the quota is removed. A correction changes only its own quota, and
   * nothing that is watched.
   */
  settle(name: string, more: Amounts, dimensions: Dimensions | undefined, sentAt: number, now: number): void {
    const quota = this.agent.quotas.get(name);
    if (this.#isClosed || !quota) return;
    settleNow(this.agent, quota, more, dimensions, sentAt, now);
    const tryAt = planTry(this.agent, quota, now);
    this.#plan(wakeAfterSettling(this.agent, quota, tryAt, now), now);
    if (tryAt <= now) this.#serve([name]);
  }

  /** Keeps the process alive by the timer while there are waiters. */
  set isAwaited(isAwaited: boolean) {
    if (this.#isAwaited === isAwaited) return;
    this.#isAwaited = isAwaited;
    if (this.#wakeAt === Infinity || this.#isClosed) return;
    this.#arm(this.#wakeAt, this.#options.clock.now());
  }

  /** Publishes the goodbye if possible, and stops. */
  close(): { readonly publish?: Message | undefined; readonly ask?: StoreRequest | undefined } {
    if (this.#isClosed) return {};
    const { publish, ask } = step(this.agent, { type: "leave" }, this.#options.clock.now());
    this.#isClosed = true;
    this.#cancel?.();
    return { publish, ask };
  }

  #serve(quotas: readonly string[]): void {
    if (this.#queue) {
      for (const quota of quotas) this.#queue.add(quota);
      return;
    }
    this.#queue = new Set(quotas);
    try {
      // Iterating a set also visits entries added meanwhile, each once.
      for (const quota of this.#queue) this.#options.serve(quota);
    } finally {
      this.#queue = undefined;
    }
  }

  /** Sets the one timer to the earliest planned time. A timer that fires early is harmless. */
  #plan(wakeAt: number, now: number): void {
    if (wakeAt < this.#wakeAt) this.#arm(wakeAt, now);
  }

  #arm(wakeAt: number, now: number): void {
    this.#cancel?.();
    this.#cancel = undefined;
    this.#wakeAt = wakeAt;
    if (wakeAt === Infinity) return;
    this.#cancel = this.#options.clock.after(wakeAt - now, () => this.#wake(), { background: !this.#isAwaited });
  }

  #wake(): void {
    this.#cancel = undefined;
    this.#wakeAt = Infinity;
    this.do({ type: "wake" });
  }
}
