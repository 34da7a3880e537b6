import type { MessageBus } from "@hivepace/bus";
import { type Clock, systemClock } from "@hivepace/core";
import { checkKnown, Listeners, need, type OptionNames, warn } from "@hivepace/core/internal";
import { resolveNamespace } from "@hivepace/namespace";
import { type Message, TRUST } from "../engine/index.ts";
import { BusLink } from "../limiter/bus-link.ts";
import { checkedSwarmId, secretsOf } from "../limiter/config.ts";
import { Replays } from "../limiter/replays.ts";
import { type CapacityMessage, decodeCapacity } from "../wire/capacity.ts";
import { BadMessage } from "../wire/fields.ts";
import { decodePark } from "../wire/park.ts";
import { decodePresence } from "../wire/presence.ts";
import { Availabilities } from "./availabilities.ts";
import { Incarnations, patienceMs, SHORTEST_MEMORY_MS } from "./incarnations.ts";
import { type LevelChange, Levels } from "./levels.ts";
import type { ObserverOptions, SwarmEvent, SwarmObserver, SwarmSnapshot } from "./observer-types.ts";
import { agentsOf, mainTotal, membersOf, quotasOf } from "./snapshot.ts";

/**
 * Observes the agents on a bus without being one. Resolves when the subscriptions on the bus are active, or at once
 * when the bus is away.
 *
 * @throws INVALID_CONFIG, BUS_CLOSED, or BUS_UNAVAILABLE when the broker refuses the subscription
 */
export async function observeSwarm(options: ObserverOptions): Promise<SwarmObserver> {
  checkKnown(options, OPTIONS);
  const isOwned = typeof (options.bus as PromiseLike<MessageBus> | undefined)?.then === "function";
  const bus = await options.bus;
  try {
    const observer = new Observer(bus, isOwned, options);
    await observer.open();
    return observer;
  } catch (error) {
    if (isOwned) await bus?.close?.();
    throw error;
  }
}

const OPTIONS = {
  bus: true,
  namespace: true,
  secret: true,
  swarmId: true,
  clock: true,
} as const satisfies OptionNames<ObserverOptions>;

class Observer implements SwarmObserver {
  readonly namespace: string;
  readonly #bus: MessageBus;
  readonly #isOwned: boolean;
  readonly #clock: Clock;
  readonly #link: BusLink;
  readonly #incarnations: Incarnations;
  readonly #levels: Levels;
  readonly #availabilities: Availabilities;
  readonly #replays = new Replays();
  readonly #listeners = new Listeners<SwarmEvent>();
  readonly #startedAt: number;
  readonly #stopStates: () => void;
  #received = 0;
  #cancelTimer: (() => void) | undefined;
  #timerAt = Infinity;
  #closing: Promise<void> | undefined;

  constructor(bus: MessageBus, isOwned: boolean, options: ObserverOptions) {
    const { clock = systemClock, namespace } = options;
    need(typeof bus?.subscribe === "function" && typeof bus.onState === "function", "bus", "a MessageBus", bus);
    need(typeof clock?.now === "function" && typeof clock.after === "function", "clock", "a Clock", clock);
    this.namespace = namespace === "" ? "" : resolveNamespace({ namespace }).namespace;
    this.#bus = bus;
    this.#isOwned = isOwned;
    this.#clock = clock;
    this.#startedAt = clock.now();
    this.#availabilities = new Availabilities(this.#startedAt);
    this.#levels = new Levels(this.#startedAt);
    const settings = {
      namespace: this.namespace || undefined,
      secrets: secretsOf(options.secret),
      swarmId: checkedSwarmId(options.swarmId),
      clock,
    };
    this.#incarnations = new Incarnations(this.#startedAt, settings.secrets.length > 0);
    this.#link = new BusLink(
      bus,
      settings,
      { source: "observer" },
      {
        presence: (message) => this.#hearPresence(decodePresence(message)),
        capacity: (message) => {
          // Agents report the effect of an operator's decision themselves, so the decision is not processed here.
          if (decodePark(message) === undefined) this.#hearCapacity(decodeCapacity(message));
        },
        maxAgeMs: () => SHORTEST_MEMORY_MS,
        isListener: true,
      },
    );
    this.#stopStates = bus.onState((state) => this.#listeners.emit({ type: "bus", state }));
  }

  open(): Promise<void> {
    return this.#link.open();
  }

  snapshot(): SwarmSnapshot {
    const now = this.#clock.now();
    this.#sweep(now);
    return {
      bus: this.#closing ? "closed" : this.#bus.state,
      observedMs: now - this.#startedAt,
      members: membersOf(this.#incarnations),
      agents: agentsOf(this.#incarnations, now),
      ...quotasOf(this.#incarnations, this.#levels, now),
      availability: this.#availabilities.closed(now),
      received: this.#received,
      ignored: Object.fromEntries(this.#link.ignored),
    };
  }

  onEvent(listener: (event: SwarmEvent) => void): () => void {
    need(typeof listener === "function", "listener", "a function", listener);
    return this.#listeners.add(listener);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(): Promise<void> {
    this.#cancelTimer?.();
    this.#stopStates();
    this.#listeners.clear();
    await this.#link.close().catch(tell);
    if (this.#isOwned) await this.#bus.close().catch(tell);
  }

  #hearPresence(message: Message): void {
    const now = this.#clock.now();
    const change = this.#incarnations.receive(message, now);
    this.#received++;
    if (change) this.#listeners.emit(change);
    for (const { name, level } of message.quotas)
      if (level && this.#incarnations.knows(name)) this.#emitLevels(this.#levels.receive(name, level, now), now);
    if (this.#levels.size > TRUST.mostReports) this.#levels.forget((resource) => this.#incarnations.knows(resource));
    if (message.availability)
      for (const event of this.#availabilities.receive(message.availability, now)) this.#listeners.emit(event);
    this.#plan(now + patienceMs(message), now);
  }

  #hearCapacity(message: CapacityMessage): void {
    const now = this.#clock.now();
    const { resource, agentId, newCapacity, reason, timestamp, ours } = message;
    this.#replays.check(message);
    if (ours) {
      if (mainTotal(resource, this.#incarnations, this.#levels, now) === Infinity)
        throw new BadMessage("unknown resource");
      this.#emitLevels(this.#levels.receive(resource, ours.level, now), now);
      this.#plan(Infinity, now);
    } else this.#listeners.emit({ type: "announced", update: { resource, agentId, newCapacity, reason, timestamp } });
    this.#received++;
  }

  #emitLevels(changes: readonly LevelChange[], now: number): void {
    for (const change of changes) {
      if (change.type === "paused") this.#listeners.emit(change);
      else
        this.#listeners.emit({
          ...change,
          newCapacity: mainTotal(change.resource, this.#incarnations, this.#levels, now),
        });
    }
  }

  /** Applies the changes that time alone causes: silent agents and recovering levels. */
  #sweep(now: number): void {
    for (const change of this.#incarnations.sweep(now)) this.#listeners.emit(change);
    this.#levels.forget((resource) => this.#incarnations.knows(resource));
    this.#emitLevels(this.#levels.sweep(now), now);
  }

  /** Sets the one timer for the earliest change. The timer does not keep the process alive. */
  #plan(at: number, now: number): void {
    const nextAt = Math.min(at, this.#levels.nextAt(now));
    if (nextAt >= this.#timerAt || this.#closing) return;
    this.#cancelTimer?.();
    this.#timerAt = nextAt;
    const due = (): void => {
      this.#timerAt = Infinity;
      const then = this.#clock.now();
      this.#sweep(then);
      this.#plan(this.#incarnations.nextAt, then);
    };
    this.#cancelTimer = this.#clock.after(Math.max(1, nextAt - now), due, { background: true });
  }
}

function tell(error: unknown): void {
  warn("HIVEPACE_CLOSE_FAILED", `the observer could not close its bus: ${String(error)}`, error);
}
