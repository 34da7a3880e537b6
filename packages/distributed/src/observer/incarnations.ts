import { type Amounts, at, BINS, type Message, type QuotaReport, TRUST, TUNING, zeros } from "../engine/index.ts";
import { isOfSlots } from "../limiter/slot-config.ts";
import { BadMessage } from "../wire/fields.ts";

/** The part of all incarnations that is forgotten at once, because finding the oldest strangers visits all of them. */
const PART = 1 / 8;

/** An agent is remembered for at least this long after its last message. */
export const SHORTEST_MEMORY_MS = 60_000;

/** The latest state that one incarnation of an agent has reported. */
export interface Incarnation {
  readonly id: string;
  readonly incarnation: number;
  readonly firstReceivedAt: number;
  seq: number;
  receivedAt: number;
  upMs: number;
  nextMs: number;
  weight: number;
  members: number;
  isAllocated: boolean;
  state: "live" | "silent" | "left";
  saidGoodbye: boolean;
  readonly quotas: Map<string, ReceivedReport>;
}

export interface ReceivedReport {
  readonly report: QuotaReport;
  readonly at: number;
}

/** A change in the membership of an agent, detected by a message or by silence. */
export type MembershipChange = { readonly type: "joined" | "silent" | "back" | "left"; readonly agentId: string };

/** All incarnations of all agents that have reported recently. */
export class Incarnations {
  readonly #startedAt: number;
  readonly #mostIncarnations: number;
  readonly #byKey = new Map<string, Incarnation>();
  readonly #byId = new Map<string, Set<Incarnation>>();
  /** The incarnations that have reported on a resource. */
  readonly #holders = new Map<string, Set<Incarnation>>();
  #reports = 0;
  /** Usage of each resource since the observation began. */
  readonly #used = new Map<string, number[]>();

  constructor(now: number, isSigned = false) {
    this.#startedAt = now;
    this.#mostIncarnations = TRUST.mostPeers[isSigned ? "signed" : "unsigned"];
  }

  [Symbol.iterator](): IterableIterator<Incarnation> {
    return this.#byKey.values();
  }

  usedSince(resource: string, length: number): Amounts {
    const used = this.#used.get(resource);
    return used?.length === length ? used : zeros(length);
  }

  /** True when an agent has reported on the resource recently. */
  knows(resource: string): boolean {
    return this.#holders.has(resource);
  }

  /** The names of all resources that any agent has reported on recently. */
  get resources(): Iterable<string> {
    return this.#holders.keys();
  }

  holdersOf(resource: string): Iterable<Incarnation> {
    return this.#holders.get(resource) ?? [];
  }

  /** Applies a message. Throws `BadMessage` when the message is outdated. */
  receive(message: Message, now: number): MembershipChange | undefined {
    const { id, incarnation } = message;
    const key = keyOf(id, incarnation);
    const known = this.#byKey.get(key);
    if (known?.saidGoodbye) throw new BadMessage("left");
    if (known && message.seq <= known.seq) throw new BadMessage("stale");
    const one: Incarnation = known ?? { ...NEW, id, incarnation, firstReceivedAt: now, quotas: new Map() };
    const wasSilent = known?.state === "silent";
    const isNew = !known && now - message.upMs >= this.#startedAt;
    one.seq = message.seq;
    one.receivedAt = now;
    one.upMs = message.upMs;
    one.nextMs = message.nextMs;
    one.weight = message.weight;
    one.members = message.members;
    one.isAllocated = message.store ?? false;
    one.saidGoodbye = message.bye;
    one.state = message.bye ? "left" : "live";
    if (!known) this.#begin(key, one);
    for (const report of message.quotas) {
      this.#count(report, one.quotas.get(report.name)?.report, isNew);
      this.#keep(one, report, now);
    }
    if (message.bye) return this.#hasLiveIncarnation(id) ? undefined : { type: "left", agentId: id };
    if (isNew) return { type: "joined", agentId: id };
    return wasSilent ? { type: "back", agentId: id } : undefined;
  }

  /** Detects agents that fell silent, and forgets agents whose latest message is old. */
  sweep(now: number): MembershipChange[] {
    const changes: MembershipChange[] = [];
    for (const one of this.#byKey.values()) {
      if (one.state === "live" && now >= silentAt(one)) {
        one.state = "silent";
        changes.push({ type: "silent", agentId: one.id });
      }
      if (one.state !== "live" && now >= forgottenAt(one)) this.#forget(one);
    }
    return changes;
  }

  /** Time of the next change by silence alone. Visits all incarnations. */
  get nextAt(): number {
    let next = Infinity;
    for (const one of this.#byKey.values())
      next = Math.min(next, one.state === "live" ? silentAt(one) : forgottenAt(one));
    return next;
  }

  /**
   * A later incarnation shows that the previous one has ended. A previous one that is still running counts as live again
   * with its next message.
   */
  #begin(key: string, one: Incarnation): void {
    if (this.#byKey.size >= this.#mostIncarnations) this.#forgetStrangers();
    const same = this.#byId.get(one.id) ?? new Set();
    for (const other of same) if (other.incarnation < one.incarnation) other.state = "left";
    this.#byId.set(one.id, same.add(one));
    this.#byKey.set(key, one);
  }

  /** Forgets the incarnations that have reported for the shortest time, as agents do; of these the oldest message first. */
  #forgetStrangers(): void {
    const strangersFirst = [...this.#byKey.values()].sort(
      (a, b) => a.receivedAt - a.firstReceivedAt - (b.receivedAt - b.firstReceivedAt) || a.receivedAt - b.receivedAt,
    );
    for (const one of strangersFirst.slice(0, Math.ceil(strangersFirst.length * PART))) this.#forget(one);
  }

  #forget(one: Incarnation): void {
    this.#byKey.delete(keyOf(one.id, one.incarnation));
    const same = this.#byId.get(one.id);
    same?.delete(one);
    if (same?.size === 0) this.#byId.delete(one.id);
    for (const name of one.quotas.keys()) this.#drop(one, name);
  }

  /** Replaces the report on a resource. Above the maximum, the incarnation with the most reports loses its oldest ones. */
  #keep(one: Incarnation, report: QuotaReport, now: number): void {
    const { name } = report;
    if (!one.quotas.delete(name)) {
      if (this.#reports >= TRUST.mostReports) this.#dropOldest();
      this.#reports++;
      const holders = this.#holders.get(name) ?? new Set();
      this.#holders.set(name, holders.add(one));
    }
    one.quotas.set(name, { report, at: now });
  }

  #dropOldest(): void {
    let [most] = this.#byKey.values();
    for (const one of this.#byKey.values()) if (one.quotas.size > (most?.quotas.size ?? 0)) most = one;
    const names = [...(most?.quotas.keys() ?? [])];
    for (const name of names.slice(0, Math.ceil(names.length / 2))) if (most) this.#drop(most, name);
  }

  #drop(one: Incarnation, name: string): void {
    one.quotas.delete(name);
    this.#reports--;
    const holders = this.#holders.get(name);
    holders?.delete(one);
    if (holders?.size !== 0) return;
    this.#holders.delete(name);
    this.#used.delete(name);
  }

  #hasLiveIncarnation(id: string): boolean {
    for (const other of this.#byId.get(id) ?? []) if (other.state === "live") return true;
    return false;
  }

  /**
   * Counts an agent's usage since its previous report. Usage from before the observation is not counted, unless the
   * agent itself is new.
   */
  #count(report: QuotaReport, before: QuotaReport | undefined, isNew: boolean): void {
    const { name, spentTotal, refundedTotal } = report;
    let used = this.#used.get(name);
    if (used?.length !== spentTotal.length) {
      used = zeros(spentTotal.length);
      this.#used.set(name, used);
    }
    if (!before && !isNew) return;
    // A slot that is free again was used by a call nevertheless.
    const isRefundable = !isOfSlots(report);
    for (let i = 0; i < used.length; i++) {
      const [sentBefore, backBefore] = before ? [at(before.spentTotal, i), at(before.refundedTotal, i)] : [0, 0];
      const refunded = isRefundable ? at(refundedTotal, i) - backBefore : 0;
      used[i] = at(used, i) + at(spentTotal, i) - sentBefore - refunded;
    }
  }
}

function keyOf(id: string, incarnation: number): string {
  return `${id} ${incarnation}`;
}

/**
 * Usage in the window that ends now: the reported bins have aged since the report. Slots stay in use until the calls in
 * them may have ended.
 */
export function usedNow({ report, at: receivedAt }: ReceivedReport, now: number): number[] {
  const ageMs = now - receivedAt;
  if (isOfSlots(report)) return report.used.map((used) => (ageMs < (report.endsMs ?? 0) ? used : 0));
  const binMs = report.windowMs / BINS;
  if (ageMs < binMs) return [...report.used];
  const young = report.bins.filter((_, b) => b * binMs + ageMs < report.windowMs);
  return report.used.map((used, i) =>
    Math.min(
      used,
      young.reduce((sum, bin) => sum + at(bin, i), 0),
    ),
  );
}

const NEW = {
  seq: 0,
  receivedAt: 0,
  upMs: 0,
  nextMs: 0,
  weight: 1,
  members: 1,
  isAllocated: false,
  state: "live" as const,
  saidGoodbye: false,
};

/**
 * Silence after which an agent is considered silent, by the same rule as among agents: three rare messages of an idle
 * agent may get lost.
 */
export function patienceMs({ nextMs }: Pick<Incarnation, "nextMs">): number {
  return Math.max(TUNING.suspectAfterHeartbeats * TUNING.heartbeatMs, 3.1 * nextMs);
}

function silentAt(one: Incarnation): number {
  return one.receivedAt + patienceMs(one);
}

/** Usage must leave the window, and calls must have ended, before the agent is forgotten. */
function forgottenAt({ receivedAt, quotas }: Incarnation): number {
  let longest = 0;
  for (const { report } of quotas.values()) longest = Math.max(longest, report.windowMs, report.endsMs ?? 0);
  return receivedAt + longest + SHORTEST_MEMORY_MS;
}
