import { type MessageBus, namespacedBus, type Subscription } from "@hivepace/bus";
import { type Clock, type EventOrigin, isHivepaceError, type MessageKind } from "@hivepace/core";
import { ignored, published, received, warn } from "@hivepace/core/internal";
import { BadMessage } from "../wire/fields.ts";
import { Seal } from "../wire/seal.ts";
import { CAPACITY_SUBJECT, MOST_BYTES_HEARD, MOST_BYTES_SENT, PRESENCE_SUBJECT } from "../wire/subjects.ts";
import type { Settings } from "./config.ts";
import { SwarmClock, TOO_OLD } from "./swarm-clock.ts";

/** The longest time that a start waits for a bus that is ready and does not answer. */
const PATIENCE_MS = 5_000;
const TRY_AGAIN_MS = 5_000;

/** Handlers of verified messages. Each may throw `BadMessage`. */
export interface Ears {
  readonly presence: (message: Uint8Array) => void;
  readonly capacity: (message: Uint8Array) => void;
  /** A message with a valid signature was too old: its sender must learn the swarm's time. */
  readonly outdated?: () => void;
  /** The own time was behind that of the swarm, so that others may have ignored the own messages as too old. */
  readonly behind?: () => void;
  /** The age up to which repetitions are recognised without their time of sending. */
  readonly maxAgeMs: () => number;
  /** The link never publishes. */
  readonly isListener?: boolean;
}

/** The settings that a link needs. */
type LinkSettings = Pick<Settings, "namespace" | "secrets" | "swarmId" | "clock">;

/** Moves of the swarm's time by less than this are transit times and ordinary differences of wall clocks. */
const BEHIND_MS = 100;

/** The two subjects of an agent on its bus: signs and publishes messages, verifies received ones, and counts ignored ones. */
export class BusLink {
  readonly #bus: MessageBus;
  readonly #isWrapped: boolean;
  readonly #seal: Seal;
  readonly #ears: Ears;
  readonly #time: SwarmClock;
  readonly #clock: Clock;
  readonly #origin: EventOrigin;
  readonly #handlers: readonly (readonly [subject: string, handler: (payload: Uint8Array) => void])[];
  readonly #subscriptions = new Map<string, Subscription>();
  readonly #ignored = new Map<string, number>();
  #cancelRetry: (() => void) | undefined;
  #isClosed = false;
  published = 0;
  publishedBytes = 0;
  unpublished = 0;
  lastFailure: unknown;
  /** Consecutive failures of a ready bus to publish, by subject. */
  readonly #refused = new Map<string, number>();

  constructor(bus: MessageBus, { namespace, secrets, swarmId, clock }: LinkSettings, origin: EventOrigin, ears: Ears) {
    this.#origin = origin;
    this.#bus = namespace === undefined ? bus : namespacedBus(bus, namespace, { clock });
    this.#isWrapped = namespace !== undefined;
    this.#ears = ears;
    this.#time = new SwarmClock(clock, ears.maxAgeMs, ears.isListener);
    this.#seal = new Seal(secrets, { swarmId: swarmIdOf(swarmId, bus), namespace: namespace ?? "" }, this.#time);
    this.#clock = clock;
    this.#handlers = [
      [PRESENCE_SUBJECT, (payload) => this.#receive(PRESENCE_SUBJECT, payload, ears.presence)],
      [CAPACITY_SUBJECT, (payload) => this.#receive(CAPACITY_SUBJECT, payload, ears.capacity)],
    ];
  }

  get state(): MessageBus["state"] {
    return this.#bus.state;
  }

  get awayReason(): string | undefined {
    return this.#bus.awayReason;
  }

  get echoes(): boolean {
    return this.#bus.supports.echo;
  }

  /** The largest message before it is signed, in bytes. */
  get maxBytes(): number {
    return Math.min(MOST_BYTES_SENT, this.#bus.supports.maxPayloadBytes) - this.#seal.bytes;
  }

  /** Ignored messages, by reason. */
  get ignored(): ReadonlyMap<string, number> {
    return this.#ignored;
  }

  ignore(reason: string, message: MessageKind): void {
    this.#ignored.set(reason, (this.#ignored.get(reason) ?? 0) + 1);
    if (ignored.hasSubscribers) ignored.publish({ ...this.#origin, message, reason });
  }

  /**
   * Subscribes to both subjects. Resolves when the broker has confirmed them, or at once when it is away; the
   * subscriptions then follow when it is back. Rejects when the bus is closed or refuses.
   */
  async open(): Promise<void> {
    let isOver = false;
    const subscribed = this.#subscribe();
    subscribed.catch((error) => isOver && this.#failed(error));
    await Promise.race([subscribed, this.#away(subscribed)]);
    isOver = true;
  }

  /** Publishes a message. Never rejects, because the next message repeats the contents. */
  async publish(subject: string, message: Uint8Array): Promise<void> {
    const payload = this.#seal.close(subject, message);
    try {
      await this.#bus.publish(subject, payload);
      this.published++;
      this.publishedBytes += payload.length;
      this.#refused.delete(subject);
      this.#emitPublished(subject, payload.length, undefined);
    } catch (error) {
      this.unpublished++;
      this.lastFailure = error;
      this.#emitPublished(subject, payload.length, error);
      this.#reportRefusal(subject, error);
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancelRetry?.();
    await Promise.all([...this.#subscriptions.values()].map((subscription) => subscription.unsubscribe()));
    if (this.#isWrapped) await this.#bus.close();
  }

  /** Resolves when the bus is away or does not answer, and at the latest when `done` settles. */
  #away(done: Promise<unknown>): Promise<void> {
    return new Promise((resolve) => {
      if (this.#bus.state === "connecting" || this.#bus.state === "interrupted") {
        resolve();
        return;
      }
      const end = (): void => {
        stop();
        cancel();
        resolve();
      };
      const stop = this.#bus.onState((state) => state === "interrupted" && end());
      const cancel = this.#clock.after(PATIENCE_MS, end);
      done.then(end, end);
    });
  }

  async #subscribe(): Promise<void> {
    await Promise.all(
      this.#handlers.map(async ([subject, handler]) => {
        if (this.#subscriptions.has(subject)) return;
        const subscription = await this.#bus.subscribe(subject, handler);
        if (this.#isClosed) await subscription.unsubscribe();
        else this.#subscriptions.set(subject, subscription);
      }),
    );
  }

  #emitPublished(subject: string, bytes: number, error: unknown): void {
    if (published.hasSubscribers) published.publish({ ...this.#origin, message: kindOf(subject), bytes, error });
  }

  /**
   * Warns at the second consecutive failure: a single one may be a connection that broke unnoticed, two indicate a
   * missing permission.
   */
  #reportRefusal(subject: string, error: unknown): void {
    if (this.#isClosed || this.#bus.state !== "ready") return;
    const times = (this.#refused.get(subject) ?? 0) + 1;
    this.#refused.set(subject, times);
    if (times === 2)
      warn("HIVEPACE_PUBLISH_FAILED", `no message on ${subject} can be published: ${String(error)}`, error);
  }

  /** Retries the subscription in the background, unless the bus is closed. */
  #failed(error: unknown): void {
    if (this.#isClosed || isHivepaceError(error, "BUS_CLOSED")) return;
    warn(
      "HIVEPACE_SUBSCRIBE_FAILED",
      `cannot subscribe to the other agents; the subscription is retried: ${String(error)}`,
      error,
    );
    const again = (): void => {
      this.#subscribe().catch((failure) => this.#failed(failure));
    };
    this.#cancelRetry = this.#clock.after(TRY_AGAIN_MS, again, { background: true });
  }

  #receive(subject: string, payload: Uint8Array, deliver: (message: Uint8Array) => void): void {
    if (this.#isClosed) return;
    const message = kindOf(subject);
    if (received.hasSubscribers) received.publish({ ...this.#origin, message, bytes: payload.length });
    try {
      if (payload.length > MOST_BYTES_HEARD) throw new BadMessage("too large");
      const { behindMs } = this.#time;
      const opened = this.#seal.open(subject, payload);
      if (this.#time.behindMs > behindMs + BEHIND_MS) this.#ears.behind?.();
      deliver(opened);
    } catch (error) {
      if (!(error instanceof BadMessage)) throw error;
      this.ignore(error.reason, message);
      if (error.reason === TOO_OLD) this.#ears.outdated?.();
    }
  }
}

/** The id of a swarm, so that messages that are relayed from one kind of broker to another are ignored by default. */
export function swarmIdOf(swarmId: string | undefined, bus: MessageBus): string {
  return swarmId === undefined ? `bus ${bus.name}` : `id ${swarmId}`;
}

function kindOf(subject: string): MessageKind {
  return subject === CAPACITY_SUBJECT ? "announcement" : "presence";
}
