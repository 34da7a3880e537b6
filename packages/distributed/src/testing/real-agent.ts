import type { MessageBus } from "@hivepace/bus";
import { type Allocator, type CapacityUpdate, isHivepaceError, type SyncStore } from "@hivepace/core";
import type { Message } from "../engine/index.ts";
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

/** A granted call until its end. */
export interface Grant {
  /** The endpoint that was granted. */
  readonly endpoint: string;
  /** Ends the call and reports the provider's answer. */
  end(call: Call, answer: Answer): void;
}

/** An agent's level, as `status()` and `explain()` show it. */
export interface LevelView {
  readonly level: number;
  readonly cause: { readonly agentId: string; readonly agoMs: number } | undefined;
}

/**
 * A simulated process that uses a real hive or limiter as programs do. The process opens the object on its own connections
 * to the bus and the store, asks before every call, sends granted calls, and reports every answer.
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
  /** Calls that arrived before the object was open; undefined afterwards. */
  #early: Call[] | undefined = [];
  /** Events that arrived while the process was frozen; undefined while the process runs. */
  #held: (() => void)[] | undefined;
  #isUp = true;
  waiting = 0;

  constructor(setting: Setting, start: Start, laws: RealLaws, cuts: RealCuts) {
    const { timeline, network, times, options, trace } = setting;
    const { index, isEarlier } = start;
    this.setting = setting;
    this.start_ = start;
    this.#laws = laws;
    this.#cuts = cuts;
    this.#tryOnly = options.demand.tryOnly?.includes(index) ?? false;
    const time = times[index] as (typeof times)[number];
    // The fraction of a millisecond distinguishes the incarnations of agents that start at the same time.
    const epochOffsetMs = (isEarlier ? -HOUR_MS : 0) + (index + 0.5) / (options.agents + 1);
    this.clock = new AgentClock(timeline, time, { epochOffsetMs });
    this.#port = new BusPort(network, index, this.clock, ({ payload }) =>
      trace.add(timeline.now, index, withoutProof(payload)),
    );
  }

  protected get bus(): MessageBus {
    return this.#port.bus;
  }

  protected get sync(): (SyncStore & Allocator) | undefined {
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
      // The call returns to its place in the queue: one point of priority is worth one second of waiting.
      if (this.#tryOnly) this.#try(call);
      else void this.#wait(call, (this.setting.timeline.now - call.arrivedAt) / 1_000);
    });
  }

  receive(message: unknown): void {
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

  /** Notes the latest cut that this agent knows of. */
  protected readonly changed = (_update: CapacityUpdate): void => {
    const cause = this.view()?.cause;
    const { timeline, live } = this.setting;
    if (cause) this.#cuts.note(this, timeline.now - cause.agoMs, timeline.now, live);
  };

  /** Runs now, or after a freeze, or never when the process is gone. */
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

/** A forged message of the engine, in its wire format. */
function injected(message: Message): BusMessage[] {
  const subject = `${NAMESPACE}.${PRESENCE_SUBJECT}`;
  return encodePresence(message, MOST_BYTES_SENT).map((payload) => ({ subject, payload, order: Infinity }));
}

/** The message without the sender's proof, which is random. */
function withoutProof(payload: Uint8Array): string {
  return new TextDecoder()
    .decode(payload)
    .replace(/,"leave":"[^"]*"/, "")
    .replace(/,"chain":\{[^}]*\}/, "");
}
