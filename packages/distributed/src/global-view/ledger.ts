import type { EndpointCount, KeyCount, SyncCount, SyncName, SyncReply, SyncSum } from "@hivepace/core";

/** Reason why the store did not answer for some entries although it answered for others. */
export interface Trouble {
  readonly count: number;
  readonly first: SyncName;
  readonly error: string;
}

/** The counts of an endpoint, or of one of its models or pools: the local ones, and the store's latest sum. */
export class Entry {
  readonly name: SyncName;
  /** Local counts at the last `look`. */
  requests = 0;
  tokens = 0;
  /** The store's sum, its window, and the local time of the answer. */
  sum: SyncSum | undefined;
  window = Number.NaN;
  at = -Infinity;
  /** Number of the latest `look` that found the entry. */
  look = 0;

  constructor(name: SyncName) {
    this.name = name;
  }

  /** True when the store's count of this instance for the window differs from the local one. */
  differs(window: number): boolean {
    const own = this.window === window ? this.sum?.own : undefined;
    return this.requests !== (own?.requests ?? 0) || this.tokens !== (own?.tokens ?? 0);
  }
}

/** The models of an endpoint, and the entry for all other models. */
interface Models {
  whole: Entry | undefined;
  readonly byModel: Map<string, Entry>;
}

/**
 * The local counts, and the store's knowledge of them. The ledger does not remember what it has sent: the store's own
 * answer contains the counts that it has, so a store that lost its data receives everything again.
 */
export class Ledger {
  readonly #entries = new Map<string, Entry>();
  readonly #keys = new Map<string, Entry>();
  #byEndpoint = new Map<string, Models>();
  #looks = 0;

  /** Copies the present counts. Drops endpoints that were removed, and keys that were not used in this window. */
  look(endpoints: readonly EndpointCount[], keys: readonly KeyCount[]): void {
    const look = ++this.#looks;
    const byEndpoint = new Map<string, Models>();
    for (const { id, model, models, requests, tokens } of endpoints) {
      // A pool of models is named after its alphabetically first model, in every process.
      const named = models ? models.reduce((first, other) => (other < first ? other : first)) : model;
      const entry = this.#entry(id, named);
      const isFirst = entry.look !== look;
      entry.look = look;
      // A store does not distinguish "no model" from a model named "default".
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

  /** Returns the entry in which requests for this model are counted, as the manager resolves it. */
  find(endpoint: string, model: string | undefined): Entry | undefined {
    const known = this.#byEndpoint.get(endpoint);
    return (model === undefined ? undefined : known?.byModel.get(model)) ?? known?.whole;
  }

  findKey(id: string): Entry | undefined {
    return this.#keys.get(id);
  }

  /**
   * Returns the counts to report for this window, and the names to query only. Without a window, everything is only
   * queried.
   */
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

  /** Adopts the store's answer. Returns the first failure and the number of failed entries; undefined without failures. */
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

  /** True when the store's answer shows a wrong count of this instance, so that reporting at once helps. */
  isMissing(entries: readonly Entry[], window: number, at: number): boolean {
    return entries.some((entry) => entry.at === at && entry.differs(window));
  }
}
