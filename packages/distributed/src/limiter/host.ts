import type { Clock } from "@hivepace/core";
import type { Agent } from "../engine/agent.ts";
import type { Ask } from "../engine/ask.ts";
import type { Event } from "../engine/events.ts";
import type { Message } from "../engine/message.ts";
import { step } from "../engine/step.ts";

export interface HostOptions {
  readonly agent: Agent;
  readonly clock: Clock;
  readonly publish: (message: Message) => void;
  /** Calls the store. Its answer, or the lack of one, becomes an event. */
  readonly ask: (ask: Ask) => void;
  /** Serves the waiters of this quota. */
  readonly serve: (pool: string) => void;
  /** Called after every change. Returns the time of the next change without an event. */
  readonly look: (now: number) => number;
}

/** Runs an agent of the engine: passes events to `step` and carries out the effects. */
export class Host {
  readonly agent: Agent;
  readonly #options: HostOptions;
  #cancel: (() => void) | undefined;
  #wakeAt = Infinity;
  /** Whether there are waiters, for which the timer keeps the process alive. */
  #isAwaited = false;
  /** Quotas to serve after the present one. Serving causes events, so each quota is queued once. */
  #queue: Set<string> | undefined;
  #isClosed = false;

  constructor(options: HostOptions) {
    this.agent = options.agent;
    this.#options = options;
  }

  do(event: Event, now = this.#options.clock.now()): boolean {
    if (this.#isClosed) return false;
    const effects = step(this.agent, event, now);
    // A decision changes nothing that is watched. Watchers learn of a change before its effects are carried out.
    const lookAt = event.type === "take" ? Infinity : this.#options.look(now);
    if (effects.publish) this.#options.publish(effects.publish);
    if (effects.ask) this.#options.ask(effects.ask);
    this.#plan(Math.min(effects.wakeAt, lookAt), now);
    if (effects.retry.length > 0) this.#serve(effects.retry);
    return effects.taken;
  }

  /** Whether the timer keeps the process alive, for waiters. */
  set isAwaited(isAwaited: boolean) {
    if (this.#isAwaited === isAwaited) return;
    this.#isAwaited = isAwaited;
    if (this.#wakeAt === Infinity || this.#isClosed) return;
    this.#arm(this.#wakeAt, this.#options.clock.now());
  }

  /** Publishes the goodbye if possible, and stops. */
  close(): { readonly publish?: Message | undefined; readonly ask?: Ask | undefined } {
    if (this.#isClosed) return {};
    const { publish, ask } = step(this.agent, { type: "leave" }, this.#options.clock.now());
    this.#isClosed = true;
    this.#cancel?.();
    return { publish, ask };
  }

  #serve(pools: readonly string[]): void {
    if (this.#queue) {
      for (const pool of pools) this.#queue.add(pool);
      return;
    }
    this.#queue = new Set(pools);
    try {
      // Iterating a set also visits entries added meanwhile, each once.
      for (const pool of this.#queue) this.#options.serve(pool);
    } finally {
      this.#queue = undefined;
    }
  }

  /** Sets the one timer to the earliest planned time. A timer that fires early does no harm. */
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
