/** What all instances together have used of an endpoint and model in the present window. */
export interface GlobalUsage {
  /** Requests: ours as of now, those of the others as of `ageMs` ago. */
  readonly rpm: number;
  readonly tpm: number;
  /** 0..1, of the tightest limit. */
  readonly utilization: number;
  /** How many instances have used it in this window, as far as known. */
  readonly agents: number;
  /** How long ago the store last answered for it; Infinity when it never has. */
  readonly ageMs: number;
}

/** What the others have used of an endpoint and model in the present window: at least this, and maybe more since. */
export interface OthersUsage {
  readonly requests: number;
  readonly tokens: number;
  /** How long until the window ends and all of it is forgotten. */
  readonly remainingMs: number;
}

/** How a sync went. */
export interface SyncEvent {
  readonly ok: boolean;
  readonly durationMs: number;
  /** How many counts were sent. */
  readonly sent: number;
  readonly error: unknown;
}

/** How well the view gets on with its store. */
export interface GlobalViewStatus {
  /** "starting" until the first sync that works; "stale" when none has worked for `staleAfterMs`. */
  readonly state: "starting" | "fresh" | "stale" | "closed";
  readonly ageMs: number;
  /** Syncs that failed since the last that worked. */
  readonly failures: number;
  /** Of the last sync, if it failed. */
  readonly error: unknown;
}

/** What the whole swarm uses, as this instance knows it. Nothing here waits for the store. */
export interface GlobalView extends AsyncDisposable {
  /** Throws RESOURCE_UNKNOWN for an endpoint that the manager does not have. */
  get(endpoint: string, model?: string): GlobalUsage;
  /** Undefined when nothing is known of this window. */
  others(endpoint: string, model?: string): OthersUsage | undefined;
  /** The same for an API key, where keys are synced. */
  othersOfKey(key: string): OthersUsage | undefined;
  status(): GlobalViewStatus;
  /** Hears of every sync. Returns its removal. */
  onSync(listener: (event: SyncEvent) => void): () => void;
  /** Syncs now, or as soon as the sync under way is over. Resolves when that is done, well or not. */
  refresh(): Promise<void>;
  /** Tells the store the last counts if it can, and ends. May be called twice. */
  close(): Promise<void>;
}
