import {
  type AvailabilityReport,
  closedUntil,
  isRegisterClosed,
  mergeRegisters,
  type Register,
  withRegisterAges,
} from "../engine/index.ts";
import { agentOf } from "../wire/capacity.ts";
import type { ObservedAvailability, SwarmEvent } from "./observer-types.ts";

/** Bounds the state that messages can create. */
const MOST = 1_000;

interface Entry {
  readonly endpoint: string;
  readonly model: string | undefined;
  readonly register: Register;
}

/** The availability of each endpoint and model, merged as every agent merges it. */
export class Availabilities {
  readonly #entries = new Map<string, Entry>();
  readonly #startedAt: number;

  constructor(startedAt: number) {
    this.#startedAt = startedAt;
  }

  /** Merges the reports of one message and returns the resulting changes. */
  receive(reports: readonly AvailabilityReport[], now: number): SwarmEvent[] {
    const events: SwarmEvent[] = [];
    for (const { endpoint, model, register } of reports) {
      if (!register) continue;
      const key = `${endpoint}\0${model ?? ""}`;
      const before = this.#entries.get(key)?.register;
      const received = withRegisterAges(register, now);
      const merged = before ? mergeRegisters(before, received) : received;
      if (merged === before || (!before && this.#entries.size >= MOST && !this.#dropOne(now))) continue;
      this.#entries.set(key, { endpoint, model, register: merged });
      // An endpoint that has opened since the start was closed before, although no report of that has arrived.
      const hasOpened = !before && merged.changedAt >= this.#startedAt;
      const isSame = merged.state === (before?.state ?? "available") && !hasOpened;
      if (isSame && merged.cause !== "probe-failed") continue;
      if (merged.epoch === before?.epoch) continue;
      const { state, cause, origin, reason } = merged;
      events.push({
        type: "availability",
        resource: endpoint,
        model,
        state,
        cause,
        agentId: agentOf(origin),
        reason,
        retryAfterMs: waitOf(merged, now),
      });
    }
    return events;
  }

  /** Returns the endpoints and models that are unavailable now. */
  closed(now: number): ObservedAvailability[] {
    const closed = [...this.#entries.values()].filter(({ register }) => isRegisterClosed(register, now));
    const shown = closed.map(({ endpoint, model, register }): ObservedAvailability => {
      const { state, origin, reason, since } = register;
      const agentId = agentOf(origin);
      return {
        resource: endpoint,
        model,
        state,
        agentId,
        reason,
        sinceMs: now - since,
        retryAfterMs: waitOf(register, now),
      };
    });
    const name = ({ resource, model = "" }: ObservedAvailability) => `${resource}\0${model}`;
    return shown.sort((a, b) => (name(a) < name(b) ? -1 : 1));
  }

  #dropOne(now: number): boolean {
    for (const [key, { register }] of this.#entries)
      if (!isRegisterClosed(register, now)) return this.#entries.delete(key);
    return false;
  }
}

function waitOf(register: Register, now: number): number | undefined {
  const until = closedUntil(register);
  return until === Infinity ? undefined : Math.max(0, until - now);
}
