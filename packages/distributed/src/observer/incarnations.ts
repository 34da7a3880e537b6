import { type Amounts, at, BINS, type Message, type QuotaReport, TRUST, TUNING, zeros } from "../engine/index.ts";
import { BadMessage } from "../wire/fields.ts";

/** The part of all lives that is forgotten at once, because finding the oldest strangers visits all of them. */
const PART = 1 / 8;

/** An agent is remembered for at least this long after its last message. */
export const SHORTEST_MEMORY_MS = 60_000;

/** The latest state that one incarnation of an agent has reported. */
export interface Life {
  readonly id: string;
  readonly life: number;
  readonly firstHeardAt: number;
  seq: number;
  heardAt: number;
  upMs: number;
  nextMs: number;
  weight: number;
  members: number;
  isServed: boolean;
  state: "live" | "silent" | "left";
  saidBye: boolean;
  readonly quotas: Map<string, Heard>;
}

export interface Heard {
  readonly report: QuotaReport;
  readonly at: number;
}

/** A change in the membership of an agent, detected by a message or by silence. */
export type Turn = { readonly type: "joined" | "silent" | "back" | "left"; readonly agentId: string };

/** All incarnations of all agents that were heard recently. */
export class Lives {
  readonly #startedAt: number;
  readonly #mostLives: number;
  readonly #byKey = new Map<string, Life>();
  readonly #byId = new Map<string, Set<Life>>();
  /** The lives that have reported on a resource. */
  readonly #holders = new Map<string, Set<Life>>();
  #reports = 0;
  /** All that was used of each resource since this is observed. */
  readonly #used = new Map<string, number[]>();

  constructor(now: number, isSigned = false) {
    this.#startedAt = now;
    this.#mostLives = TRUST.mostPeers[isSigned ? "signed" : "unsigned"];
  }

  [Symbol.iterator](): IterableIterator<Life> {
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

  /** The names of all resources that somebody spoke of of late. */
  get resources(): Iterable<string> {
    return this.#holders.keys();
  }

  holdersOf(resource: string): Iterable<Life> {
    return this.#holders.get(resource) ?? [];
  }

  /** Applies a message. Throws `BadMessage` when the message is outdated. */
  hear(message: Message, now: number): Turn | undefined {
    const { id, incarnation } = message;
    const key = keyOf(id, incarnation);
    const known = this.#byKey.get(key);
    if (known?.saidBye) throw new BadMessage("left");
    if (known && message.seq <= known.seq) throw new BadMessage("stale");
    const one: Life = known ?? { ...NEW, id, life: incarnation, firstHeardAt: now, quotas: new Map() };
    const wasSilent = known?.state === "silent";
    const isNew = !known && now - message.upMs >= this.#startedAt;
    one.seq = message.seq;
    one.heardAt = now;
    one.upMs = message.upMs;
    one.nextMs = message.nextMs;
    one.weight = message.weight;
    one.members = message.members;
    one.isServed = message.store ?? false;
    one.saidBye = message.bye;
    one.state = message.bye ? "left" : "live";
    if (!known) this.#begin(key, one);
    for (const report of message.quotas) {
      this.#count(report, one.quotas.get(report.name)?.report, isNew);
      this.#keep(one, report, now);
    }
    if (message.bye) return this.#isElsewhere(one) ? undefined : { type: "left", agentId: id };
    if (isNew) return { type: "joined", agentId: id };
    return wasSilent ? { type: "back", agentId: id } : undefined;
  }

  /** Detects agents that fell silent, and forgets agents that were last heard long ago. */
  sweep(now: number): Turn[] {
    const turns: Turn[] = [];
    for (const life of this.#byKey.values()) {
      if (life.state === "live" && now >= silentAt(life)) {
        life.state = "silent";
        turns.push({ type: "silent", agentId: life.id });
      }
      if (life.state !== "live" && now >= forgottenAt(life)) this.#forget(life);
    }
    return turns;
  }

  /** Time of the next change by silence alone. Visits all incarnations. */
  get nextAt(): number {
    let next = Infinity;
    for (const life of this.#byKey.values())
      next = Math.min(next, life.state === "live" ? silentAt(life) : forgottenAt(life));
    return next;
  }

  /**
   * A later incarnation shows that the previous one has ended. If the previous one is still running, it will be heard
   * again.
   */
  #begin(key: string, life: Life): void {
    if (this.#byKey.size >= this.#mostLives) this.#forgetStrangers();
    const same = this.#byId.get(life.id) ?? new Set();
    for (const other of same) if (other.life < life.life) other.state = "left";
    this.#byId.set(life.id, same.add(life));
    this.#byKey.set(key, life);
  }

  /** Forgets those that have been speaking for the shortest time, as the agents do; of these the one heard longest ago first. */
  #forgetStrangers(): void {
    const strangersFirst = [...this.#byKey.values()].sort(
      (a, b) => a.heardAt - a.firstHeardAt - (b.heardAt - b.firstHeardAt) || a.heardAt - b.heardAt,
    );
    for (const life of strangersFirst.slice(0, Math.ceil(strangersFirst.length * PART))) this.#forget(life);
  }

  #forget(life: Life): void {
    this.#byKey.delete(keyOf(life.id, life.life));
    const same = this.#byId.get(life.id);
    same?.delete(life);
    if (same?.size === 0) this.#byId.delete(life.id);
    for (const name of life.quotas.keys()) this.#drop(life, name);
  }

  /** Replaces the report of a life on a resource. The life with the most reports loses its oldest ones when there are too many. */
  #keep(life: Life, report: QuotaReport, now: number): void {
    const { name } = report;
    if (!life.quotas.delete(name)) {
      if (this.#reports >= TRUST.mostReports) this.#dropOldest();
      this.#reports++;
      const holders = this.#holders.get(name) ?? new Set();
      this.#holders.set(name, holders.add(life));
    }
    life.quotas.set(name, { report, at: now });
  }

  #dropOldest(): void {
    let [most] = this.#byKey.values();
    for (const life of this.#byKey.values()) if (life.quotas.size > (most?.quotas.size ?? 0)) most = life;
    const names = [...(most?.quotas.keys() ?? [])];
    for (const name of names.slice(0, Math.ceil(names.length / 2))) if (most) this.#drop(most, name);
  }

  #drop(life: Life, name: string): void {
    life.quotas.delete(name);
    this.#reports--;
    const holders = this.#holders.get(name);
    holders?.delete(life);
    if (holders?.size !== 0) return;
    this.#holders.delete(name);
    this.#used.delete(name);
  }

  #isElsewhere({ id, life }: Life): boolean {
    for (const other of this.#byId.get(id) ?? []) if (other.life !== life && other.state === "live") return true;
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
    for (let i = 0; i < used.length; i++) {
      const [sentBefore, backBefore] = before ? [at(before.spentTotal, i), at(before.refundedTotal, i)] : [0, 0];
      used[i] = at(used, i) + at(spentTotal, i) - sentBefore - at(refundedTotal, i) + backBefore;
    }
  }
}

function keyOf(id: string, life: number): string {
  return `${id} ${life}`;
}

/** What it used in the window that ends now: its bins have grown older since it said so. */
export function usedNow({ report, at: heardAt }: Heard, now: number): number[] {
  const ageMs = now - heardAt;
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
  heardAt: 0,
  upMs: 0,
  nextMs: 0,
  weight: 1,
  members: 1,
  isServed: false,
  state: "live" as const,
  saidBye: false,
};

/**
 * Silence after which an agent is considered silent, by the same rule as among agents: three rare messages of an idle
 * agent may get lost.
 */
export function patienceMs({ nextMs }: Pick<Life, "nextMs">): number {
  return Math.max(TUNING.suspectAfterHeartbeats * TUNING.heartbeatMs, 3.1 * nextMs);
}

function silentAt(life: Life): number {
  return life.heardAt + patienceMs(life);
}

/** Usage must leave the window before the agent is forgotten. */
function forgottenAt({ heardAt, quotas }: Life): number {
  let longest = 0;
  for (const { report } of quotas.values()) longest = Math.max(longest, report.windowMs);
  return heardAt + longest + SHORTEST_MEMORY_MS;
}
