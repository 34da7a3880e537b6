import { randomInt } from "node:crypto";
import type { Clock, EventOrigin, MessageKind, ShareStore } from "@hivepace/core";
import { ignored, synced } from "@hivepace/core/internal";
import { type Agent, newAgent } from "../engine/agent.ts";
import type { Amounts } from "../engine/amounts.ts";
import type { Ask } from "../engine/ask.ts";
import type { Refused } from "../engine/level.ts";
import type { Message } from "../engine/message.ts";
import type { Pool, PoolConfig } from "../engine/pool.ts";
import { withAges } from "../engine/publish.ts";
import { step } from "../engine/step.ts";
import { TUNING } from "../engine/tuning.ts";
import { BOUNDS, clamped } from "../wire/bounds.ts";
import { type CapacityMessage, decodeCapacity, encodeCapacity } from "../wire/capacity.ts";
import { BadMessage } from "../wire/fields.ts";
import { LONGEST_REASON } from "../wire/level-fields.ts";
import { decodePresence, encodePresence } from "../wire/presence.ts";
import { CAPACITY_SUBJECT, PRESENCE_SUBJECT } from "../wire/subjects.ts";
import { shareStore, storeOf } from "./aggregation.ts";
import { BusLink } from "./bus-link.ts";
import { Comings } from "./comings.ts";
import type { Settings } from "./config.ts";
import { foreignLevel } from "./foreign-level.ts";
import { Host } from "./host.ts";
import { Replays } from "./replays.ts";
import { totalOf } from "./total.ts";
import { Worries } from "./worries.ts";

export interface MemberOptions {
  readonly serve: (pool: string) => void;
  readonly look: (now: number) => number;
  /** The kind of object that owns the member, for events. */
  readonly source: EventOrigin["source"];
}

/** An agent of the engine on a real clock and, unless it is alone, on a real bus. */
export class Member {
  readonly agent: Agent;
  readonly origin: EventOrigin;
  readonly host: Host;
  readonly link: BusLink | undefined;
  readonly #clock: Clock;
  readonly #store: ShareStore | undefined;
  readonly #namespace: string;
  readonly #worries: Worries;
  readonly #replays = new Replays();
  #announcements = 0;
  /** When the bus last echoed an own message. */
  echoAt = -Infinity;
  isClosed = false;
  /** Failed calls of the store, and the reason of the last failure. */
  storeFailures = 0;
  lastStoreFailure: unknown;

  constructor(settings: Settings, options: MemberOptions) {
    const { agentId: id, bus, clock, weight, isolation, expectedAgents } = settings;
    const { heartbeatIntervalMs, secrets } = settings;
    this.#clock = clock;
    this.origin = { source: options.source, agentId: id };
    const store = storeOf(settings);
    this.#store = store && settings.sync && shareStore(settings.sync);
    this.#namespace = settings.storeNamespace;
    const ears = {
      presence: (message: Uint8Array) => this.#hearPresence(decodePresence(message)),
      capacity: (message: Uint8Array) => this.#hearCapacity(decodeCapacity(message)),
    };
    this.link = bus && new BusLink(bus, settings, this.origin, ears);
    const agent = newAgent(
      {
        id,
        life: clamped(BOUNDS.presence.life, incarnationAt(clock.epochMs())),
        weight,
        isolation,
        expectedAgents,
        hasBus: this.link !== undefined,
        isSigned: secrets.length > 0,
        echoes: this.link?.echoes ?? false,
        store,
        tuning: { ...TUNING, heartbeatMs: heartbeatIntervalMs, idleHeartbeatMs: 5 * heartbeatIntervalMs },
      },
      clock.now(),
    );
    this.agent = agent;
    this.#worries = new Worries(agent);
    const comings = new Comings(agent, this.origin);
    this.host = new Host({
      agent,
      clock,
      publish: (message) => void this.#publish(message),
      ask: (ask) => void this.#ask(ask),
      serve: options.serve,
      look: (now) => {
        this.#worries.look(now);
        comings.look(now);
        return options.look(now);
      },
    });
  }

  async open(): Promise<void> {
    await this.link?.open();
    // The join phase starts here.
    this.host.do({ type: "start" });
  }

  /** True when limits are shared with other agents, over a bus or through a store. */
  get isShared(): boolean {
    return this.link !== undefined || this.agent.store !== undefined;
  }

  /** Whether the process stays alive, for waiters. */
  set isAwaited(isAwaited: boolean) {
    this.host.isAwaited = isAwaited;
  }

  wake(): void {
    this.host.do({ type: "wake" });
  }

  /** Sets or changes a quota. Callers call `wake` after related changes. */
  setPool(config: PoolConfig, now: number): Pool {
    step(this.agent, { type: "configure", config }, now);
    return this.agent.pools.get(config.name) as Pool;
  }

  removePool(name: string): void {
    step(this.agent, { type: "remove", pool: name }, this.#clock.now());
  }

  /** Reports a refusal of the provider, and announces it to all agents, including those without level registers. */
  refused(pool: Pool, refused: Omit<Refused, "sentAt"> & { readonly sentAgoMs: number }): void {
    const now = this.#clock.now();
    const { sentAgoMs, retryAfterMs, isOverload } = refused;
    const reason = refused.reason.slice(0, LONGEST_REASON);
    const before = pool.level;
    const details = { sentAt: now - sentAgoMs, retryAfterMs, isOverload, reason };
    this.host.do({ type: "refused", pool: pool.config.name, refused: details }, now);
    // The short announcement goes first. The full report follows.
    if (pool.level !== before && !this.isClosed) this.#announce(pool, now);
  }

  /** Counts usage outside the swarm that an answer has shown. */
  usedElsewhere(pool: Pool, amounts: Amounts, now: number): void {
    this.host.do({ type: "used-elsewhere", pool: pool.config.name, amounts }, now);
  }

  /** Ends the recovery for all agents, because the provider has shown the whole limit. */
  recovered(pool: Pool, now: number): void {
    this.host.do({ type: "recovered", pool: pool.config.name }, now);
  }

  async close(): Promise<void> {
    if (this.isClosed) return;
    this.isClosed = true;
    const { publish, ask } = this.host.close();
    await Promise.all([publish && this.#publish(publish), ask && this.#ask(ask)]);
    // The goodbye is sent repeatedly: an agent that missed it would hold capacity free for the departed one.
    if (publish) await this.#publish(publish);
    await this.link?.close();
  }

  async #publish(message: Message): Promise<void> {
    const { link } = this;
    if (!link) return;
    const payloads = encodePresence(message, link.maxBytes);
    await Promise.all(payloads.map((payload) => link.publish(PRESENCE_SUBJECT, payload)));
  }

  /** Calls the store. Never rejects, because a failed call is an event as well. */
  async #ask(ask: Ask): Promise<void> {
    const { sequence: seq } = ask;
    const askedAt = this.#clock.now();
    try {
      const reply = await this.#store?.share({ ...ask, namespace: this.#namespace });
      this.#tellShared(ask, askedAt, undefined);
      this.host.do(reply ? { type: "answer", seq, reply } : { type: "unanswered", seq });
    } catch (error) {
      this.storeFailures++;
      this.lastStoreFailure = error;
      this.#tellShared(ask, askedAt, error);
      this.host.do({ type: "unanswered", seq });
    }
  }

  #tellShared(ask: Ask, askedAt: number, error: unknown): void {
    if (!synced.hasSubscribers) return;
    const now = this.#clock.now();
    const ageMs = error === undefined ? 0 : now - (this.agent.store?.answeredAt ?? -Infinity);
    synced.publish({
      ...this.origin,
      operation: "share",
      durationMs: now - askedAt,
      sent: ask.pools.length,
      ageMs,
      error,
    });
  }

  #announce(pool: Pool, now: number): void {
    const { level, config } = pool;
    const { id, life } = this.agent.config;
    const message = encodeCapacity({
      resource: config.name,
      agentId: id,
      newCapacity: totalOf(pool, now),
      reason: level.reason,
      timestamp: new Date(this.#clock.epochMs()),
      ours: { life, seq: ++this.#announcements, level: withAges(level, now) },
    });
    void this.link?.publish(CAPACITY_SUBJECT, message);
  }

  #hearPresence(message: Message): void {
    const { id, life } = this.agent.config;
    if (message.id === id && message.life === life) this.echoAt = this.#clock.now();
    this.#hearing("presence", () => this.host.do({ type: "hear", message }));
  }

  #hearCapacity(message: CapacityMessage): void {
    const { ours, agentId } = message;
    const { id, life } = this.agent.config;
    if (ours && agentId === id && ours.life === life) return;
    if (this.isClosed) return;
    const now = this.#clock.now();
    const pool = this.agent.pools.get(message.resource);
    if (!pool) throw new BadMessage("unknown resource");
    this.#replays.check(message);
    if (message.isNewer) this.link?.ignore("newer version, but for the five fields", "announcement");
    const level = ours?.level ?? foreignLevel(pool, message, now);
    this.#hearing("announcement", () => this.host.do({ type: "announced", pool: message.resource, level }, now));
  }

  /** Publishes the engine's ignored messages, which it only counts. */
  #hearing(message: MessageKind, hear: () => void): void {
    const before = ignored.hasSubscribers && new Map(this.agent.ignored);
    hear();
    if (!before) return;
    for (const [reason, count] of this.agent.ignored)
      for (let i = before.get(reason) ?? 0; i < count; i++) ignored.publish({ ...this.origin, message, reason });
  }
}

/**
 * The number of an incarnation: its start in microseconds, so that a later incarnation has a higher number. A wall clock in
 * whole milliseconds leaves the microseconds to chance, which tells apart two starts in one millisecond. A clock with
 * fractions decides them itself: simulations repeat exactly.
 */
function incarnationAt(epochMs: number): number {
  const ms = Math.floor(epochMs);
  return ms * 1_000 + (epochMs === ms ? randomInt(1_000) : Math.floor((epochMs - ms) * 1_000));
}
