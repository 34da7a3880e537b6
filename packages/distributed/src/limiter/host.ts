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
  /** Calls the store; what it answers, or that it does not, is an event. */
  readonly ask: (ask: Ask) => void;
  /** The calls that wait for this pool should try again. */
  readonly serve: (pool: string) => void;
  /** Something may have changed that others look at. Says when that will be the case next. */
  readonly look: (now: number) => number;
}

/** Lets an agent live: hands it what happens, and does what it says has to be done. */
export class Host {
  readonly agent: Agent;
  readonly #options: HostOptions;
  #cancel: (() => void) | undefined;
  #wakeAt = Infinity;
  /** Whether somebody waits, so that the process must not end before the timer. */
  #isAwaited = false;
  /** Pools that are to be served, while one is: none of them twice, for trying is also an event. */
  #queue: Set<string> | undefined;
  #isClosed = false;

  constructor(options: HostOptions) {
    this.agent = options.agent;
    this.#options = options;
  }

  do(event: Event, now = this.#options.clock.now()): boolean {
    if (this.#isClosed) return false;
    const effects = step(this.agent, event, now);
    // A decision changes nothing that anyone looks at. Whoever looks here hears of a change before it is passed on.
    const lookAt = event.type === "take" ? Infinity : this.#options.look(now);
    if (effects.publish) this.#options.publish(effects.publish);
    if (effects.ask) this.#options.ask(effects.ask);
    this.#plan(Math.min(effects.wakeAt, lookAt), now);
    if (effects.retry.length > 0) this.#serve(effects.retry);
    return effects.taken;
  }

  /** While somebody waits, the timer keeps the process alive. */
  set isAwaited(isAwaited: boolean) {
    if (this.#isAwaited === isAwaited) return;
    this.#isAwaited = isAwaited;
    if (this.#wakeAt === Infinity || this.#isClosed) return;
    this.#arm(this.#wakeAt, this.#options.clock.now());
  }

  /** The goodbye, if it can still be said. Afterwards nothing happens here any more. */
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
      // A set also visits what is added meanwhile, and nothing twice.
      for (const pool of this.#queue) this.#options.serve(pool);
    } finally {
      this.#queue = undefined;
    }
  }

  /** One timer, for the earliest of all that is planned; it may come too early, which does no harm. */
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
