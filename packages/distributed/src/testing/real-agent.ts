import type { MessageBus } from "@hivepace/bus";
import { type CapacityUpdate, isHivepaceError, type ShareStore, type SyncStore } from "@hivepace/core";
import type { Message } from "../engine/message.ts";
import { encodePresence } from "../wire/presence.ts";
import { MOST_BYTES_SENT, PRESENCE_SUBJECT } from "../wire/subjects.ts";
import { AgentClock } from "./agent-clock.ts";
import { type BusMessage, BusPort } from "./bus-port.ts";
import type { RealCuts } from "./real-cuts.ts";
import type { RealLaws } from "./real-laws.ts";
import type { Setting, Start } from "./simulation.ts";
import { storePort } from "./store-port.ts";
import type { Answer, Call, Participant } from "./world.ts";

export const NAMESPACE = "simulation";
const RETRIES = 5;
const TRY_EVERY_MS = 100;
const HOUR_MS = 3_600_000;

/** What stands behind a granted call until it ends. */
export interface Grant {
  /** The endpoint that it is for. */
  readonly endpoint: string;
  /** Reports how the provider answered. */
  end(call: Call, answer: Answer): void;
}

/** The level of an agent, as a public object shows it. */
export interface LevelView {
  readonly level: number;
  readonly cause: { readonly agentId: string; readonly agoMs: number } | undefined;
}

/**
 * A simulated process that uses a real hive or limiter as programs do: it opens the object on its own connection to the bus
 * and the store, asks for every call, sends what is granted, and reports every answer.
 */
export abstract class RealAgent implements Participant {
  protected readonly setting: Setting;
  protected readonly start_: Start;
  protected readonly clock: AgentClock;
  readonly #port: BusPort;
  readonly #laws: RealLaws;
  readonly #cuts: RealCuts;
  readonly #grants = new Map<Call, Grant>();
  readonly #tryOnly: boolean;
  /** Calls that came before the object was open. */
  #early: Call[] | undefined = [];
  /** What happened while the process stood still. */
  #held: (() => void)[] | undefined;
  #isUp = true;
  waiting = 0;

  constructor(setting: Setting, start: Start, laws: RealLaws, cuts: RealCuts) {
    const { timeline, network, times, options, mark } = setting;
    const { index, isEarlier } = start;
    this.setting = setting;
    this.start_ = start;
    this.#laws = laws;
    this.#cuts = cuts;
    this.#tryOnly = options.demand.tryOnly?.includes(index) ?? false;
    const time = times[index] as (typeof times)[number];
    // The fraction of a millisecond tells agents apart that start at once.
    const epochOffsetMs = (isEarlier ? -HOUR_MS : 0) + (index + 0.5) / (options.agents + 1);
    this.clock = new AgentClock(timeline, time, { epochOffsetMs });
    this.#port = new BusPort(network, index, this.clock, ({ payload }) => mark(hash(payload, index)));
  }

  protected get bus(): MessageBus {
    return this.#port.bus;
  }

  protected get sync(): (SyncStore & ShareStore) | undefined {
    const { store } = this.setting;
    return store && storePort(store, this.start_.index, (run) => this.#inProcess(run));
  }

  /** Opens the real object. */
  protected abstract open(): Promise<void>;
  /** Waits until a call may be sent. */
  protected abstract acquire(call: Call, timeoutMs: number | undefined, priority: number): Promise<Grant>;
  protected abstract tryAcquire(call: Call): Grant | undefined;
  protected abstract close(): Promise<void>;
  protected abstract view(): LevelView | undefined;
  abstract limitsText(): string;
  abstract setLimits(limits: readonly number[]): void;

  start(): void {
    this.#laws.opened(this.clock);
    this.open().then(
      () => {
        const early = this.#early ?? [];
        this.#early = undefined;
        if (!this.#isUp) return;
        this.waiting -= early.length;
        for (const call of early) this.arrive(call);
      },
      (error: unknown) => this.#laws.failed(this.start_.id, error),
    );
  }

  arrive(call: Call): void {
    this.waiting++;
    if (this.#early) this.#early.push(call);
    else if (this.#tryOnly) this.#try(call);
    else void this.#wait(call);
  }

  answered(call: Call, answer: Answer): void {
    this.#inProcess(() => {
      const grant = this.#grants.get(call);
      if (!grant) return;
      this.#grants.delete(call);
      this.#laws.ended(call, answer.outcome === "accepted");
      grant.end(call, answer);
      if (answer.outcome === "accepted" || ++call.tries > RETRIES) return;
      this.waiting++;
      // Back to its place in the line: a point of priority is worth a second of waiting.
      if (this.#tryOnly) this.#try(call);
      else void this.#wait(call, (this.setting.timeline.now - call.arrivedAt) / 1_000);
    });
  }

  hear(message: unknown): void {
    const bytes = isBusMessage(message) ? [message] : injected(message as Message);
    for (const each of bytes) this.#port.receive(each);
  }

  stop(graceful: boolean): void {
    if (graceful && !this.#early) {
      this.#laws.closing(this.start_.id, this.clock, this.#grants.keys(), this.close());
      this.#grants.clear();
      this.#isUp = false;
      return;
    }
    this.#laws.crashed(this.clock, this.#grants.keys(), this.waiting);
    this.#isUp = false;
    this.clock.stop();
    this.#port.cut();
  }

  pause(): void {
    this.#held ??= [];
    this.clock.pause();
  }

  resume(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    this.clock.resume();
    for (const run of held) run();
  }

  level(): number {
    return this.view()?.level ?? 1;
  }

  levelText(): string {
    return this.level().toFixed(6);
  }

  /** Notes a cut that this agent has just learned of. */
  protected readonly changed = (_update: CapacityUpdate): void => {
    const cause = this.view()?.cause;
    const { timeline, live } = this.setting;
    if (cause) this.#cuts.note(this, timeline.now - cause.agoMs, timeline.now, live);
  };

  /** Runs now, when the process goes on, or never when it is gone. */
  #inProcess(run: () => void): void {
    if (this.#held) this.#held.push(run);
    else if (this.#isUp || !this.clock.isStopped) run();
  }

  async #wait(call: Call, priority = 0): Promise<void> {
    const { now } = this.setting.timeline;
    const timeoutMs = call.givesUpAt < Infinity ? Math.max(0, call.givesUpAt - now) : undefined;
    this.#laws.asked();
    try {
      const grant = await this.acquire(call, timeoutMs, priority);
      this.#laws.settled();
      this.waiting--;
      this.#granted(call, grant);
    } catch (error) {
      this.#laws.settled();
      this.waiting--;
      const isUsual = isHivepaceError(error, "CAPACITY_EXHAUSTED") || isHivepaceError(error, "LIMITER_CLOSED");
      if (!isUsual) this.#laws.failed(this.start_.id, error);
    }
  }

  #try(call: Call): void {
    const { world } = this.setting;
    const isOver = !this.#isUp || world.now > call.givesUpAt;
    const grant = isOver ? undefined : this.tryAcquire(call);
    if (isOver || grant) {
      this.waiting--;
      if (grant) this.#granted(call, grant);
      return;
    }
    world.after(TRY_EVERY_MS * (0.5 + world.random()), () => this.#inProcess(() => this.#try(call)));
  }

  #granted(call: Call, grant: Grant): void {
    const { world } = this.setting;
    call.sentTo = Math.max(
      0,
      world.endpoints.findIndex(({ id }) => id === grant.endpoint),
    );
    this.#grants.set(call, grant);
    this.#laws.granted(call, world.now);
    world.send(call);
  }
}

function isBusMessage(message: unknown): message is BusMessage {
  return (message as BusMessage).payload instanceof Uint8Array;
}

/** A message of the engine from nowhere, as it would be on the wire. */
function injected(message: Message): BusMessage[] {
  const subject = `${NAMESPACE}.${PRESENCE_SUBJECT}`;
  return encodePresence(message, MOST_BYTES_SENT).map((payload) => ({ subject, payload, order: Infinity }));
}

function hash(payload: Uint8Array, from: number): number {
  let sum = 0x811c9dc5 ^ from;
  for (const byte of payload) sum = Math.imul(sum ^ byte, 0x01000193);
  return sum >>> 0;
}
