/** Usage of an endpoint and model by all instances together in the present window. */
export interface GlobalUsage {
  /** Requests in the present window: those of this instance as of now, those of the others as of `ageMs` ago. */
  readonly rpm: number;
  /** Tokens in the present window, counted in the same way. */
  readonly tpm: number;
  /** Utilization of the tightest limit, 0 to 1. */
  readonly utilization: number;
  /** Number of instances that have used the endpoint in this window, as far as known. */
  readonly agents: number;
  /** Age of the store's last answer for the endpoint, in milliseconds; Infinity before the first answer. */
  readonly ageMs: number;
}

/**
 * Usage of an endpoint and model by the other instances in the present window. A lower bound: they may have used more
 * since.
 */
export interface OthersUsage {
  readonly requests: number;
  readonly tokens: number;
  /** Time until the window ends, in milliseconds. The usage is then dropped. */
  readonly remainingMs: number;
}

/** The result of one sync. */
export interface SyncEvent {
  /** True when the sync succeeded. */
  readonly ok: boolean;
  /** Duration of the sync in milliseconds. */
  readonly durationMs: number;
  /** Number of counts that were sent. */
  readonly sent: number;
  /** The error of a failed sync; undefined if the sync succeeded. */
  readonly error: unknown;
}

/** The state of the view and its connection to the store. */
export interface GlobalViewStatus {
  /** "starting" until the first successful sync; "stale" when none has succeeded for `staleAfterMs`. */
  readonly state: "starting" | "fresh" | "stale" | "closed";
  /** Time since the last successful sync, in milliseconds. */
  readonly ageMs: number;
  /** Number of failed syncs since the last successful one. */
  readonly failures: number;
  /** The error of the last sync; undefined if it succeeded. */
  readonly error: unknown;
}

/** Usage of the whole swarm, as this instance knows it. No method that reads waits for the store. */
export interface GlobalView extends AsyncDisposable {
  /**
   * Returns the usage of an endpoint and model by all instances.
   *
   * @throws RESOURCE_UNKNOWN for an endpoint that the manager does not have
   */
  get(endpoint: string, model?: string): GlobalUsage;
  /** Returns the usage by the other instances; undefined when none is known for this window. */
  others(endpoint: string, model?: string): OthersUsage | undefined;
  /** Returns the usage of an API key by the other instances, where keys are synced. */
  othersOfKey(key: string): OthersUsage | undefined;
  /** Returns the state of the view. */
  status(): GlobalViewStatus;
  /** Registers a listener for every sync. Returns a function that removes the listener. */
  onSync(listener: (event: SyncEvent) => void): () => void;
  /** Syncs now, or right after the running sync. Resolves when that sync has ended, successfully or not. */
  refresh(): Promise<void>;
  /** Reports the last counts to the store if it can be reached, and ends. May be called more than once. */
  close(): Promise<void>;
}
