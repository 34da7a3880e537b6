import type { EndpointCount, KeyCount, SyncCount, SyncName, SyncReply, SyncSum } from "@hivepace/core";

/** Why some of the things were not answered for, when the others were. */
export interface Trouble {
  readonly count: number;
  readonly first: SyncName;
  readonly error: string;
}

/** An endpoint, or one of its models or pools: what we have counted, and what the store last said of it. */
export class Entry {
  readonly name: SyncName;
  /** Ours, at the last look. */
  requests = 0;
  tokens = 0;
  /** What the store said, of which of its windows, and when, by our clock. */
  sum: SyncSum | undefined;
  window = Number.NaN;
  at = -Infinity;
  /** The look at which it was last there. */
  look = 0;

  constructor(name: SyncName) {
    this.name = name;
  }

  /** Whether the store has another count of ours for this window than we have. */
  differs(window: number): boolean {
    const own = this.window === window ? this.sum?.own : undefined;
    return this.requests !== (own?.requests ?? 0) || this.tokens !== (own?.tokens ?? 0);
  }
}

/** Models of an endpoint, and what is for all that are not among them. */
interface Models {
  whole: Entry | undefined;
  readonly byModel: Map<string, Entry>;
}

/**
 * What was counted here and what the store has of it. Nothing is remembered of what was sent: the store's own answer says
 * what it has, so a store that forgot everything is told everything again.
 */
export class Ledger {
  readonly #entries = new Map<string, Entry>();
  readonly #keys = new Map<string, Entry>();
  #byEndpoint = new Map<string, Models>();
  #looks = 0;

  /** Takes over what is counted now. Endpoints that are gone are forgotten, and keys that were not used in this window. */
  look(endpoints: readonly EndpointCount[], keys: readonly KeyCount[]): void {
    const look = ++this.#looks;
    const byEndpoint = new Map<string, Models>();
    for (const { id, model, models, requests, tokens } of endpoints) {
      // A pool is named after the first of its models in the order of the alphabet, in every process.
      const named = models ? models.reduce((first, other) => (other < first ? other : first)) : model;
      const entry = this.#entry(id, named);
      const isFirst = entry.look !== look;
      entry.look = look;
      // "No model" and a model that is called "default" are one thing to a store.
      entry.requests = requests + (isFirst ? 0 : entry.requests);
      entry.tokens = tokens + (isFirst ? 0 : entry.tokens);
      const known = byEndpoint.get(id) ?? { whole: undefined, byModel: new Map() };
      byEndpoint.set(id, known);
      if (model === undefined) known.whole = entry;
      for (const each of models ?? (model === undefined ? [] : [model])) known.byModel.set(each, entry);
    }
    this.#byEndpoint = byEndpoint;
    if (this.#entries.size > endpoints.length)
      for (const [name, entry] of this.#entries) if (entry.look !== look) this.#entries.delete(name);
    this.#lookAtKeys(keys, look);
  }

  #lookAtKeys(keys: readonly KeyCount[], look: number): void {
    for (const { id, requests, tokens } of keys) {
      const entry = this.#keys.get(id) ?? new Entry({ kind: "key", id });
      this.#keys.set(id, entry);
      Object.assign(entry, { look, requests, tokens });
    }
    for (const [id, entry] of this.#keys) if (entry.look !== look) this.#keys.delete(id);
  }

  #entry(id: string, model: string | undefined): Entry {
    const name = `${id}\0${model ?? "default"}`;
    const known = this.#entries.get(name);
    if (known) return known;
    const entry = new Entry({ kind: "endpoint", id, model });
    this.#entries.set(name, entry);
    return entry;
  }

  /** Where requests for this model are counted, as the manager finds it. */
  find(endpoint: string, model: string | undefined): Entry | undefined {
    const known = this.#byEndpoint.get(endpoint);
    return (model === undefined ? undefined : known?.byModel.get(model)) ?? known?.whole;
  }

  findKey(id: string): Entry | undefined {
    return this.#keys.get(id);
  }

  /** What to tell the store of this window, and what only to ask; without a window all is only asked. */
  report(window: number | undefined): { entries: Entry[]; counts: SyncCount[]; watched: SyncName[] } {
    const changed: Entry[] = [];
    const rest: Entry[] = [];
    for (const entries of [this.#entries, this.#keys])
      for (const entry of entries.values())
        (window !== undefined && entry.differs(window) ? changed : rest).push(entry);
    return {
      entries: [...changed, ...rest],
      counts: changed.map(({ name: of, requests, tokens }) => ({ of, requests, tokens })),
      watched: rest.map(({ name }) => name),
    };
  }

  /** Takes over what the store said; returns what it could not say. */
  learn(entries: readonly Entry[], { window, sums }: SyncReply, at: number): Trouble | undefined {
    let count = 0;
    let trouble: Omit<Trouble, "count"> | undefined;
    for (const [i, entry] of entries.entries()) {
      const sum = sums[i];
      if (sum === undefined || sum.error !== undefined) {
        count++;
        trouble ??= { first: entry.name, error: sum?.error ?? "no answer" };
        continue;
      }
      entry.sum = sum;
      entry.window = window;
      entry.at = at;
    }
    return trouble && { ...trouble, count };
  }

  /** Whether the store answered that it has another count than it should, so that telling it at once helps. */
  isMissing(entries: readonly Entry[], window: number, at: number): boolean {
    return entries.some((entry) => entry.at === at && entry.differs(window));
  }
}
