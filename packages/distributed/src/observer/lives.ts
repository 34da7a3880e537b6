import { type Amounts, at, zeros } from "../engine/amounts.ts";
import type { Message, PoolReport } from "../engine/message.ts";
import { TUNING } from "../engine/tuning.ts";
import { BINS } from "../engine/use-window.ts";
import { BadMessage } from "../wire/fields.ts";

/** More than this is no swarm but an attack on our memory. */
const MOST_LIVES = 20_000;

/** What one life of an agent has last said. */
export interface Life {
  readonly id: string;
  readonly life: number;
  seq: number;
  heardAt: number;
  upMs: number;
  nextMs: number;
  weight: number;
  members: number;
  isServed: boolean;
  state: "live" | "silent" | "left";
  saidBye: boolean;
  readonly pools: Map<string, Heard>;
}

export interface Heard {
  readonly report: PoolReport;
  readonly at: number;
}

/** What became of an agent by what was heard, or was not. */
export type Turn = { readonly type: "joined" | "silent" | "back" | "left"; readonly agentId: string };

/** Every life of every agent that was heard of late. */
export class Lives {
  readonly #startedAt: number;
  readonly #byKey = new Map<string, Life>();
  /** All that was used of each resource since this is observed. */
  readonly #used = new Map<string, number[]>();

  constructor(now: number) {
    this.#startedAt = now;
  }

  [Symbol.iterator](): IterableIterator<Life> {
    return this.#byKey.values();
  }

  usedSince(resource: string, length: number): Amounts {
    const used = this.#used.get(resource);
    return used?.length === length ? used : zeros(length);
  }

  /** Somebody spoke of it of late. */
  knows(resource: string): boolean {
    return this.#used.has(resource);
  }

  /** Throws `BadMessage` when it says nothing new. */
  hear(message: Message, now: number): Turn | undefined {
    const { id, life } = message;
    const key = `${id} ${life}`;
    const known = this.#byKey.get(key);
    if (known?.saidBye) throw new BadMessage("left");
    if (known && message.seq <= known.seq) throw new BadMessage("stale");
    if (!known && this.#byKey.size >= MOST_LIVES) throw new BadMessage("too many agents");
    const one: Life = known ?? { ...NEW, id, life, pools: new Map() };
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
    for (const report of message.pools) {
      this.#count(report, one.pools.get(report.name)?.report, isNew);
      one.pools.set(report.name, { report, at: now });
    }
    if (message.bye) return this.#isElsewhere(one) ? undefined : { type: "left", agentId: id };
    if (isNew) return { type: "joined", agentId: id };
    return wasSilent ? { type: "back", agentId: id } : undefined;
  }

  /** Notices who has not kept the promise to be heard again, and forgets those of long ago. */
  sweep(now: number): Turn[] {
    const turns: Turn[] = [];
    const resources = new Set<string>();
    for (const [key, life] of this.#byKey) {
      if (life.state === "live" && now >= silentAt(life)) {
        life.state = "silent";
        turns.push({ type: "silent", agentId: life.id });
      }
      if (life.state !== "live" && now >= forgottenAt(life)) this.#byKey.delete(key);
      else for (const name of life.pools.keys()) resources.add(name);
    }
    for (const name of this.#used.keys()) if (!resources.has(name)) this.#used.delete(name);
    return turns;
  }

  /** When there is something to notice next: looks at all of them. */
  get nextAt(): number {
    let next = Infinity;
    for (const life of this.#byKey.values())
      next = Math.min(next, life.state === "live" ? silentAt(life) : forgottenAt(life));
    return next;
  }

  /** A later life shows that the one before it has ended; if it has not, it will be heard again. */
  #begin(key: string, life: Life): void {
    for (const other of this.#byKey.values()) if (other.id === life.id && other.life < life.life) other.state = "left";
    this.#byKey.set(key, life);
  }

  #isElsewhere({ id, life }: Life): boolean {
    for (const other of this.#byKey.values())
      if (other.id === id && other.life !== life && other.state === "live") return true;
    return false;
  }

  /** What an agent used before this was observed is not counted, unless it is new itself. */
  #count(report: PoolReport, before: PoolReport | undefined, isNew: boolean): void {
    const { name, sent, back } = report;
    let used = this.#used.get(name);
    if (used?.length !== sent.length) {
      used = zeros(sent.length);
      this.#used.set(name, used);
    }
    if (!before && !isNew) return;
    for (let i = 0; i < used.length; i++) {
      const [sentBefore, backBefore] = before ? [at(before.sent, i), at(before.back, i)] : [0, 0];
      used[i] = at(used, i) + at(sent, i) - sentBefore - at(back, i) + backBefore;
    }
  }
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

/** After so long without a word it is silent, as agents judge each other: three rare messages of an idle one may get lost. */
export function patienceMs({ nextMs }: Pick<Life, "nextMs">): number {
  return Math.max(TUNING.silent * TUNING.heartbeatMs, 3.1 * nextMs);
}

function silentAt(life: Life): number {
  return life.heardAt + patienceMs(life);
}

/** What it used has to run out first. */
function forgottenAt({ heardAt, pools }: Life): number {
  let longest = 0;
  for (const { report } of pools.values()) longest = Math.max(longest, report.windowMs);
  return heardAt + longest + 60_000;
}
