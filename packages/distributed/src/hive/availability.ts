import type { AvailabilityEvent, RateDecision } from "@hivepace/core";
import { availability as channel } from "@hivepace/core/internal";
import {
  type Answer,
  type AvailabilityReading,
  LONGEST_PARK_MS,
  nextOpeningAt,
  type Register,
  readAvailability,
  troubleRank,
} from "../engine/index.ts";
import type { Member } from "../limiter/member.ts";
import { agentOf } from "../wire/capacity.ts";
import { LONGEST_REASON } from "../wire/level-fields.ts";
import type { EndpointAvailability } from "./hive-types.ts";

/** The state of an entry at the last comparison. */
interface Seen {
  readonly register: Register;
  readonly state: Register["state"];
  readonly isLocal: boolean;
}

/** The availability of a hive's endpoints, read from the engine for decisions, explanations and events. */
export class HiveAvailability {
  readonly #member: Member;
  /** Called for each endpoint whose availability has changed. */
  readonly #onChange: (endpoint: string) => void;
  readonly #seen = new Map<string, Seen>();
  #version = 0;
  #openingAt = Infinity;

  constructor(member: Member, onChange: (endpoint: string) => void) {
    this.#member = member;
    this.#onChange = onChange;
  }

  /**
   * Returns the obstacle to a call; undefined when calls may be sent. With `waitMs` 0 this call may be sent as a probe.
   */
  obstacle(
    endpoint: string,
    model: string | undefined,
    now: number,
    hasOther = false,
  ): AvailabilityReading | undefined {
    return readAvailability(this.#member.agent, endpoint, model, now, hasOther);
  }

  /** Ranks endpoints before utilization: -1 where a call should probe, 1 where the latest calls failed, otherwise 0. */
  rank(endpoint: string, model: string | undefined, now: number): number {
    const reading = this.obstacle(endpoint, model, now, true);
    return reading?.waitMs === 0 ? -1 : troubleRank(this.#member.agent, endpoint, model, now);
  }

  beginProbe(endpoint: string, model: string | undefined, now: number): void {
    this.#member.runner.do({ type: "probe", endpoint, model }, now);
  }

  answered(answer: Answer, now: number): void {
    const { reason } = answer;
    const bounded = reason.length > LONGEST_REASON ? { ...answer, reason: reason.slice(0, LONGEST_REASON) } : answer;
    this.#member.runner.do({ type: "answer", answer: bounded }, now);
  }

  park(endpoint: string, model: string | undefined, forMs: number | undefined, reason: string): void {
    const command = { endpoint, model, forMs, reason: reason.slice(0, LONGEST_REASON) };
    this.#member.runner.do({ type: "park", command });
  }

  unpark(endpoint: string, model: string | undefined): void {
    this.#member.runner.do({ type: "unpark", command: { endpoint, model, reason: "unparked" } });
  }

  /** Returns the unavailable models of an endpoint. */
  closedModels(endpoint: string, now: number): string[] {
    if (this.#member.agent.availability.version === 0) return [];
    const models: string[] = [];
    for (const { endpoint: of, model } of this.#member.agent.availability.entries.values())
      if (of === endpoint && model !== undefined && this.obstacle(endpoint, model, now)) models.push(model);
    return models;
  }

  /** True when a model of the endpoint has a state of its own, so that its waiters need a separate group. */
  isApart(endpoint: string, model: string | undefined): boolean {
    return model !== undefined && (this.#seen.get(nameOf(endpoint, model))?.state ?? "available") !== "available";
  }

  describe(endpoint: string, model: string | undefined, now: number): EndpointAvailability {
    const reading = this.obstacle(endpoint, model, now);
    if (!reading) return AVAILABLE;
    const { register, waitMs, isProbing, isLocal } = reading;
    const { state, reason, origin, since } = register;
    const retryAfterMs = waitMs === Infinity || isProbing ? undefined : Math.ceil(waitMs);
    return {
      state,
      model: reading.model,
      reason,
      agentId: agentOf(origin),
      sinceMs: Math.max(0, now - since),
      retryAfterMs,
      isProbing,
      isLocal,
    };
  }

  /** Detects changes and notifies listeners. Returns the time of the next change by time alone. */
  look(now: number): number {
    const { agent } = this.#member;
    const { availability } = agent;
    if (availability.version === this.#version && now < this.#openingAt) return this.#openingAt;
    this.#version = availability.version;
    const changed = new Set<string>();
    for (const { endpoint, model, register, local } of availability.entries.values()) {
      const name = nameOf(endpoint, model);
      const shown = local ?? register;
      const isOpen = shown.state !== "available" && !shown.isProbed && now >= shown.changedAt + shown.waitMs;
      const seen: Seen = {
        register: shown,
        state: isOpen && shown.waitMs < LONGEST_PARK_MS ? "available" : shown.state,
        isLocal: local !== undefined,
      };
      const before = this.#seen.get(name);
      if (before?.register === shown && before.state === seen.state) continue;
      this.#seen.set(name, seen);
      changed.add(endpoint);
      if (channel.hasSubscribers) this.#publish(endpoint, model, before, seen, now);
    }
    this.#openingAt = nextOpeningAt(agent, now);
    for (const endpoint of changed) this.#onChange(endpoint);
    return this.#openingAt;
  }

  #publish(endpoint: string, model: string | undefined, before: Seen | undefined, seen: Seen, now: number): void {
    const { state, register } = seen;
    const previous = before?.state ?? "available";
    const isFailedProbe = register.cause === "probe-failed" && register.epoch !== before?.register.epoch;
    if (state === previous && !isFailedProbe) return;
    const hasEnded = state === "available" && register.state !== "available";
    const event: AvailabilityEvent = {
      ...this.#member.origin,
      resource: endpoint,
      model,
      state,
      before: previous,
      cause: hasEnded ? "ended" : register.cause,
      retryAfterMs: this.describe(endpoint, model, now).retryAfterMs,
      by: agentOf(register.origin),
      reason: register.reason,
    };
    channel.publish(event);
  }
}

const AVAILABLE: EndpointAvailability = {
  state: "available",
  model: undefined,
  reason: undefined,
  agentId: undefined,
  sinceMs: undefined,
  retryAfterMs: 0,
  isProbing: false,
  isLocal: false,
};

/** Retry delay in denials while a call probes the endpoint. */
const LOOK_AGAIN_MS = 1_000;

/** Time until an unavailable endpoint may be called, in milliseconds; Infinity when unknown. */
export function closedForMs({ waitMs, isProbing }: AvailabilityReading): number {
  // The duration of a running probe is unknown.
  return isProbing ? Math.min(waitMs, LOOK_AGAIN_MS) : waitMs;
}

/**
 * The denial of a request whose endpoint is unavailable. The wait ends when the endpoint may be called and all limits allow
 * the request, which they may deny too.
 */
export function unavailableDecision(
  { windowStart }: Pick<RateDecision, "windowStart">,
  obstacle: AvailabilityReading,
  limits: RateDecision | undefined,
): RateDecision {
  const knownMs = Math.max(closedForMs(obstacle), limits?.retryAfterMs ?? 0);
  return {
    allowed: false,
    currentTpm: 0,
    limitTpm: Infinity,
    currentRpm: 0,
    limitRpm: Infinity,
    utilization: 1,
    windowStart,
    retryAfterMs: knownMs === Infinity ? undefined : Math.max(1, Math.ceil(knownMs)),
    limitedBy: "unavailable",
    reason: "unavailable",
  };
}

/** Readable reason for display, such as "openai is parked: quota used up". */
export function whyUnavailable({ register, model, isLocal, isProbing }: AvailabilityReading): string {
  const { state, reason, origin } = register;
  const subject = model === undefined ? "it is" : `its model ${model} is`;
  const by = isLocal ? " for this agent alone" : ` (${agentOf(origin)})`;
  const probe = isProbing ? ", a call is trying it now" : "";
  return `${subject} ${state}${by}: ${reason}${probe}`;
}

function nameOf(endpoint: string, model: string | undefined): string {
  return `${endpoint}\0${model ?? ""}`;
}
