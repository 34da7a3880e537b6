import { randomInt } from "node:crypto";
import type { Allocator, Clock, EventOrigin, MessageKind } from "@hivepace/core";
import { ignored, synced } from "@hivepace/core/internal";
import {
  type Agent,
  type Amounts,
  agentMode,
  forgetAfterMs,
  type Message,
  newAgent,
  type Quota,
  type QuotaConfig,
  type Refused,
  type StoreRequest,
  step,
  TUNING,
  withAges,
} from "../engine/index.ts";
import { BOUNDS, clamped } from "../wire/bounds.ts";
import { type CapacityMessage, decodeCapacity, encodeCapacity } from "../wire/capacity.ts";
import { BadMessage } from "../wire/fields.ts";
import { LONGEST_REASON } from "../wire/level-fields.ts";
import { decodePark, type ParkMessage } from "../wire/park.ts";
import { decodePresence, encodePresence } from "../wire/presence.ts";
import { CAPACITY_SUBJECT, PRESENCE_SUBJECT } from "../wire/subjects.ts";
import { AgentRunner } from "./agent-runner.ts";
import { allocatorOf, storeOf } from "./aggregation.ts";
import { BusLink } from "./bus-link.ts";
import type { Settings } from "./config.ts";
import { foreignLevel } from "./foreign-level.ts";
import { MembershipEvents } from "./membership-events.ts";
import { Proofs } from "./proofs.ts";
import { Replays } from "./replays.ts";
import { totalOf } from "./total.ts";
import { Warnings } from "./warnings.ts";

export interface MemberOptions {
  readonly serve: (quota: string) => void;
  readonly afterStep: (now: number) => number;
  /** The kind of object that owns the member, for events. */
  readonly source: EventOrigin["source"];
}

/** An agent of the engine on a real clock and, unless it is alone, on a real bus. */
export class Member {
  readonly agent: Agent;
  readonly origin: EventOrigin;
  readonly runner: AgentRunner;
  readonly link: BusLink | undefined;
  readonly #clock: Clock;
  readonly #store: Allocator | undefined;
  readonly #namespace: string;
  readonly #worries: Warnings;
  readonly #replays = new Replays();
  /** Undefined on a bus with signatures, which are stronger proofs. */
  readonly #proofs: Proofs | undefined;
  #announcements = 0;
  /** Time at which the bus last echoed an own message. */
  echoAt = -Infinity;
  isClosed = false;
  /** Number of failed store calls, and the reason of the last failure. */
  storeFailures = 0;
  lastStoreFailure: unknown;

  constructor(settings: Settings, options: MemberOptions) {
    const { agentId: id, bus, clock, weight, isolation, expectedAgents } = settings;
    const { heartbeatIntervalMs, secrets } = settings;
    const isKnown = (key: string) => this.agent.membership.peers.has(key);
    const known = () => this.agent.membership.peers.size;
    const incarnation = clamped(BOUNDS.presence.life, incarnationAt(clock.epochMs()));
    this.#proofs = secrets.length === 0 ? new Proofs(`${id} ${incarnation}`, isKnown, known) : undefined;
    this.#clock = clock;
    this.origin = { source: options.source, agentId: id };
    const store = storeOf(settings);
    this.#store = store && settings.sync && allocatorOf(settings.sync);
    this.#namespace = settings.storeNamespace;
    const ears = {
      presence: (message: Uint8Array) => this.#hearPresence(decodePresence(message)),
      capacity: (message: Uint8Array) => {
        const decision = decodePark(message);
        if (decision) this.#hearPark(decision);
        else this.#hearCapacity(decodeCapacity(message));
      },
      outdated: () => void this.runner.do({ type: "outdated" }),
      behind: () => this.#joinAgain(),
      maxAgeMs: () => forgetAfterMs(this.agent),
    };
    this.link = bus && new BusLink(bus, settings, this.origin, ears);
    const agent = newAgent(
      {
        id,
        incarnation,
        weight,
        isolation,
        expectedAgents,
        hasBus: this.link !== undefined,
        isSigned: secrets.length > 0,
        echoes: this.link?.echoes ?? false,
        observes: settings.observes,
        store,
        tuning: { ...TUNING, heartbeatMs: heartbeatIntervalMs, idleHeartbeatMs: 5 * heartbeatIntervalMs },
      },
      clock.now(),
    );
    this.agent = agent;
    this.#worries = new Warnings(agent, () => this.link);
    const comings = new MembershipEvents(agent, this.origin);
    this.runner = new AgentRunner({
      agent,
      clock,
      publish: (message) => void this.#publish(message),
      ask: (ask) => void this.#ask(ask),
      serve: options.serve,
      afterStep: (now) => {
        this.#worries.check(now);
        comings.compare(now);
        return options.afterStep(now);
      },
    });
  }

  async open(): Promise<void> {
    await this.link?.open();
    // Starts the join phase.
    this.runner.do({ type: "start" });
  }

  /** True when limits are shared with other agents, over a bus or through a store. */
  get isShared(): boolean {
    return this.link !== undefined || this.agent.store !== undefined;
  }

  /** Keeps the process alive while there are waiters. */
  set isAwaited(isAwaited: boolean) {
    this.runner.isAwaited = isAwaited;
  }

  wake(): void {
    this.runner.do({ type: "wake" });
  }

  /** Sets or changes a quota. Callers call `wake` after related changes. */
  setQuota(config: QuotaConfig, now: number): Quota {
    step(this.agent, { type: "configure", config }, now);
    return this.agent.quotas.get(config.name) as Quota;
  }

  removeQuota(name: string): void {
    step(this.agent, { type: "remove", quota: name }, this.#clock.now());
  }

  /** Reports a refusal of the provider, and announces it to all agents, including those without level registers. */
  refused(quota: Quota, refused: Omit<Refused, "sentAt"> & { readonly sentAgoMs: number }): void {
    const now = this.#clock.now();
    const { sentAgoMs, retryAfterMs, isOverload, isAnswer } = refused;
    const reason = refused.reason.slice(0, LONGEST_REASON);
    const before = quota.backoff.level;
    const details = { sentAt: now - sentAgoMs, retryAfterMs, isOverload, isAnswer, reason };
    this.runner.do({ type: "refused", quota: quota.config.name, refused: details }, now);
    // The short announcement is published first, and the full report follows.
    if (quota.backoff.level !== before && !this.isClosed) this.#announce(quota, now);
  }

  /** Counts usage outside the swarm that an answer has shown. `within` counts the same calls among others. */
  addExternalUsage(quota: Quota, amounts: Amounts, now: number, within?: Quota): void {
    const { name } = quota.config;
    this.runner.do(
      { type: "external-usage", quota: name, amounts, ...(within && { within: within.config.name }) },
      now,
    );
  }

  /** Ends the recovery for all agents, because the provider has shown the whole limit. */
  recovered(quota: Quota, now: number): void {
    this.runner.do({ type: "recovered", quota: quota.config.name }, now);
  }

  async close(): Promise<void> {
    if (this.isClosed) return;
    this.isClosed = true;
    const { publish, ask } = this.runner.close();
    await Promise.all([publish && this.#publish(publish), ask && this.#ask(ask)]);
    // The goodbye is sent repeatedly: an agent that missed it would hold capacity free for the departed one.
    if (publish) await this.#publish(publish);
    await this.link?.close();
  }

  async #publish(message: Message): Promise<void> {
    const { link } = this;
    const proofs = this.#proofs;
    if (!link) return;
    const isLost = link.state !== "ready";
    const payloads = proofs
      ? encodePresence(proofs.signed(message), link.maxBytes - proofs.bytes).map((payload) =>
          proofs.linked(payload, isLost),
        )
      : encodePresence(message, link.maxBytes);
    await Promise.all(payloads.map((payload) => link.publish(PRESENCE_SUBJECT, payload)));
  }

  /** Calls the store. Never rejects, because a failed call is an event as well. */
  async #ask(ask: StoreRequest): Promise<void> {
    const { sequence: seq } = ask;
    const askedAt = this.#clock.now();
    try {
      const reply = await this.#store?.allocate({ ...ask, namespace: this.#namespace });
      this.#emitShared(ask, askedAt, undefined);
      this.runner.do(reply ? { type: "store-reply", seq, reply } : { type: "store-failure", seq });
    } catch (error) {
      this.storeFailures++;
      this.lastStoreFailure = error;
      this.#emitShared(ask, askedAt, error);
      this.runner.do({ type: "store-failure", seq });
    }
  }

  #emitShared(ask: StoreRequest, askedAt: number, error: unknown): void {
    if (!synced.hasSubscribers) return;
    const now = this.#clock.now();
    const ageMs = error === undefined ? 0 : now - (this.agent.store?.answeredAt ?? -Infinity);
    synced.publish({
      ...this.origin,
      operation: "share",
      durationMs: now - askedAt,
      sent: ask.quotas.length,
      ageMs,
      error,
    });
  }

  #announce(quota: Quota, now: number): void {
    const { config, backoff } = quota;
    const { level } = backoff;
    const { id, incarnation } = this.agent.config;
    const message = encodeCapacity({
      resource: config.name,
      agentId: id,
      newCapacity: totalOf(quota, now),
      reason: level.reason,
      timestamp: new Date(this.#clock.epochMs()),
      ours: { life: incarnation, seq: ++this.#announcements, level: withAges(level, now) },
    });
    void this.link?.publish(CAPACITY_SUBJECT, message);
  }

  #hearPresence(message: Message): void {
    const { id, incarnation } = this.agent.config;
    const checked = this.#proofs?.checked(message) ?? message;
    if (checked.id === id && checked.incarnation === incarnation) this.echoAt = this.#clock.now();
    this.#applyMessage("presence", () => this.runner.do({ type: "receive", message: checked }));
  }

  #hearCapacity(message: CapacityMessage): void {
    const { ours, agentId } = message;
    const { id, incarnation } = this.agent.config;
    if (ours && agentId === id && ours.life === incarnation) return;
    if (this.isClosed) return;
    const now = this.#clock.now();
    const quota = this.agent.quotas.get(message.resource);
    if (!quota) throw new BadMessage("unknown resource");
    this.#replays.check(message);
    if (message.isNewer) this.link?.ignore("newer version, but for the five fields", "announcement");
    const level = ours?.level ?? foreignLevel(quota, message, now);
    this.#applyMessage("announcement", () =>
      this.runner.do({ type: "announced", quota: message.resource, level }, now),
    );
  }

  /** Applies an operator's decision that closes or opens an endpoint for all agents. */
  #hearPark({ action, endpoint, model, forMs, reason, agentId: by, timestamp }: ParkMessage): void {
    if (this.isClosed) return;
    this.#replays.checkOrigin(by, timestamp, this.#clock.epochMs());
    const command = { endpoint, model, reason, by };
    this.#applyMessage("announcement", () =>
      this.runner.do(
        action === "park" ? { type: "park", command: { ...command, forMs } } : { type: "unpark", command },
      ),
    );
  }

  /** Peers ignored the first message of a newcomer whose clock was behind, as too old. */
  #joinAgain(): void {
    if (agentMode(this.agent, this.#clock.now()) === "joining") this.runner.do({ type: "start" });
  }

  /** Publishes the engine's ignored messages, which it only counts. */
  #applyMessage(message: MessageKind, apply: () => void): void {
    const before = ignored.hasSubscribers && new Map(this.agent.ignored);
    apply();
    if (!before) return;
    for (const [reason, count] of this.agent.ignored)
      for (let i = before.get(reason) ?? 0; i < count; i++) ignored.publish({ ...this.origin, message, reason });
  }
}

/**
 * The number of an incarnation: its start in microseconds, so that a later incarnation has a higher number. With a wall
 * clock in whole milliseconds the microseconds are random, which distinguishes two starts in one millisecond. With a
 * clock that has fractions they follow from the clock, so that simulations repeat exactly.
 */
function incarnationAt(epochMs: number): number {
  const ms = Math.floor(epochMs);
  return ms * 1_000 + (epochMs === ms ? randomInt(1_000) : Math.floor((epochMs - ms) * 1_000));
}
