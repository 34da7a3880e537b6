import { HivepaceError, type RateManager, SyncUnavailableError } from "@hivepace/core";
import { Listeners, synced, warn } from "@hivepace/core/internal";
import { type Entry, Ledger, type Trouble } from "./ledger.ts";
import { checkOptions, type GlobalViewOptions, type GlobalViewSettings } from "./options.ts";
import { paceMs } from "./pace.ts";
import { StoreClock } from "./store-clock.ts";
import type { GlobalUsage, GlobalView, GlobalViewStatus, OthersUsage, SyncEvent } from "./view-types.ts";

/** Window edges closer than this count as equal, because no answer is more precise. */
const SAME_EDGE_MS = 20;

/**
 * Starts to sync the manager's counts with all other instances on the same store, in the background: at once, and then
 * about every second. Requests never wait for the store. The view ends with `close()`; it does not keep the process
 * alive.
 */
export function startGlobalView(options: GlobalViewOptions): GlobalView {
  return new SyncedView(checkOptions(options));
}

class SyncedView implements GlobalView {
  readonly #settings: GlobalViewSettings;
  readonly #manager: RateManager;
  readonly #ledger = new Ledger();
  readonly #storeClock = new StoreClock();
  readonly #listeners = new Listeners<SyncEvent>();
  readonly #startedAt: number;
  #windowMs = Number.NaN;
  #sequence = 0;
  #failures = 0;
  #error: unknown;
  #syncedAt = -Infinity;
  #isStaleTold = false;
  #isTroubleTold = false;
  #running: Promise<void> | undefined;
  #next: Promise<void> | undefined;
  #closing: Promise<void> | undefined;
  #cancel = (): void => {};

  constructor(settings: GlobalViewSettings) {
    this.#settings = settings;
    this.#manager = settings.manager;
    this.#startedAt = settings.clock.now();
    void this.#run(true);
  }

  get(endpoint: string, model?: string): GlobalUsage {
    const now = this.#settings.clock.now();
    const local = this.#manager.peek({ endpoint, model, tokens: 0 });
    const entry = this.#ledger.find(endpoint, model);
    const others = this.others(endpoint, model);
    // The decision shows input or output tokens if these are the full limit.
    const isPart = local.limitedBy === "endpoint-input-tpm" || local.limitedBy === "endpoint-output-tpm";
    const rpm = local.currentRpm + (others?.requests ?? 0);
    const tpm = (isPart ? (entry?.tokens ?? 0) : local.currentTpm) + (others?.tokens ?? 0);
    const ofTokens = isPart ? 0 : part(tpm, local.limitTpm);
    const utilization = Math.min(1, Math.max(local.utilization, part(rpm, local.limitRpm), ofTokens));
    const told = others ? entry?.sum : undefined;
    const isNew = told?.own === undefined && local.currentRpm > 0;
    return {
      rpm,
      tpm,
      utilization,
      agents: (told?.agents ?? 0) + (isNew ? 1 : 0),
      ageMs: now - (entry?.at ?? -Infinity),
    };
  }

  others(endpoint: string, model?: string): OthersUsage | undefined {
    return this.#othersOf(this.#ledger.find(endpoint, model));
  }

  othersOfKey(key: string): OthersUsage | undefined {
    return this.#othersOf(this.#ledger.findKey(key));
  }

  #othersOf(entry: Entry | undefined): OthersUsage | undefined {
    const epochMs = this.#storeClock.at(this.#settings.clock.now());
    if (entry?.sum === undefined || epochMs === undefined) return undefined;
    // Counts only grow within a window, so an old sum is still a lower bound of its window. For other windows it is no
    // evidence.
    if (entry.window !== Math.floor(epochMs / this.#windowMs)) return undefined;
    const { requests, tokens, own } = entry.sum;
    return {
      requests: requests - (own?.requests ?? 0),
      tokens: tokens - (own?.tokens ?? 0),
      remainingMs: (entry.window + 1) * this.#windowMs - epochMs,
    };
  }

  status(): GlobalViewStatus {
    const ageMs = this.#settings.clock.now() - this.#syncedAt;
    const quietMs = this.#settings.clock.now() - Math.max(this.#syncedAt, this.#startedAt);
    const isStale = quietMs > this.#settings.staleAfterMs;
    const state = this.#closing ? "closed" : isStale ? "stale" : ageMs === Infinity ? "starting" : "fresh";
    return { state, ageMs, failures: this.#failures, error: this.#error };
  }

  onSync(listener: (event: SyncEvent) => void): () => void {
    return this.#listeners.add(listener);
  }

  async refresh(): Promise<void> {
    if (this.#closing) return;
    // The running sync may have read the counts before this call, so callers share the next one.
    this.#next ??= (this.#running ?? Promise.resolve()).then(() => {
      this.#next = undefined;
      return this.#closing ? undefined : this.#run(false);
    });
    await this.#next;
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(): Promise<void> {
    this.#cancel();
    await this.#running;
    // After a failure, a last sync would only delay the end.
    if (this.#failures === 0) await this.#attempt(false);
    this.#listeners.clear();
  }

  /** Runs one sync at a time and plans the next one when it has ended. */
  #run(isBackground: boolean): Promise<void> {
    this.#cancel();
    this.#running = this.#attempt(isBackground).then(() => {
      this.#running = undefined;
      if (this.#closing) return;
      const { clock, intervalMs, random } = this.#settings;
      const ms = paceMs(intervalMs, this.#failures, random());
      this.#cancel = clock.after(ms, () => void this.#run(true), { background: true });
    });
    return this.#running;
  }

  /** Runs one sync. Never rejects: a failure is recorded, reported to listeners, and retried. */
  async #attempt(isBackground: boolean): Promise<void> {
    const { clock } = this.#settings;
    const startedAt = clock.now();
    let sent = 0;
    try {
      const first = await this.#exchange(isBackground);
      sent = first.sent;
      let { trouble } = first;
      // The store lacks counts, or the time was unknown until now: a second report at once corrects the sums by the
      // next sync of each instance.
      if (first.isMissing) {
        const second = await this.#exchange(isBackground);
        sent += second.sent;
        trouble = second.trouble;
      }
      this.#succeed(trouble);
    } catch (error) {
      this.#fail(error);
    }
    const error = this.#error;
    const durationMs = clock.now() - startedAt;
    this.#listeners.emit({ ok: error === undefined, durationMs, sent, error });
    if (!synced.hasSubscribers) return;
    const { agentId } = this.#settings;
    const ageMs = clock.now() - this.#syncedAt;
    synced.publish({ source: "global-view", agentId, operation: "sync", durationMs, sent, ageMs, error });
  }

  async #exchange(isBackground: boolean) {
    const { store, clock, namespace, agentId, incarnation, keys: syncsKeys } = this.#settings;
    const { windowMs, remainingMs, endpoints, keys } = this.#manager.snapshot({ keys: syncsKeys });
    this.#windowMs = windowMs;
    const askedAt = clock.now();
    this.#ledger.look(endpoints, keys);
    // The window is identified by its end. For a window that is waiting to be aligned, the end is the store's edge,
    // wherever it began.
    const endsAt = this.#storeClock.at(askedAt + remainingMs);
    const window = endsAt === undefined ? undefined : Math.round(endsAt / windowMs) - 1;
    const { entries, counts, watched } = this.#ledger.report(window);
    const sequence = ++this.#sequence;
    const report = { namespace, agentId, incarnation, sequence, windowMs, window, counts, watched };
    const reply = await this.#inTime(store.sync(report), isBackground);
    const answeredAt = clock.now();
    this.#storeClock.receive(reply.epochMs, askedAt, answeredAt);
    this.#align(askedAt, remainingMs, windowMs);
    const trouble = this.#ledger.learn(entries, reply, answeredAt);
    const isHeard = window === undefined || window === reply.window;
    const isMissing = isHeard && this.#ledger.isMissing(entries, reply.window, answeredAt);
    return { sent: counts.length, trouble, isMissing };
  }

  /** Moves the manager's windows to the store's windows, if they differ. */
  #align(askedAt: number, remainingMs: number, windowMs: number): void {
    const now = this.#storeClock.at(this.#settings.clock.now()) as number;
    const edge = this.#storeClock.at(askedAt + remainingMs) as number;
    const apart = Math.abs(edge - Math.round(edge / windowMs) * windowMs);
    if (apart > Math.min(SAME_EDGE_MS, windowMs / 100)) this.#manager.rephase(now);
  }

  #inTime<T>(work: Promise<T>, isBackground: boolean): Promise<T> {
    const { clock, timeoutMs, store } = this.#settings;
    return new Promise((resolve, reject) => {
      const late = (): void => reject(new SyncUnavailableError(store.name, `no answer within ${timeoutMs} ms`));
      const cancel = clock.after(timeoutMs, late, { background: isBackground });
      work.then(resolve, reject).finally(cancel);
    });
  }

  #succeed(trouble: Trouble | undefined): void {
    this.#failures = 0;
    this.#error = undefined;
    this.#syncedAt = this.#settings.clock.now();
    this.#isStaleTold = false;
    if (trouble && !this.#isTroubleTold) {
      const { count, first, error } = trouble;
      const which = count === 1 ? "is" : `and ${count - 1} more are`;
      warn("HIVEPACE_SYNC_PARTIAL", `${first.kind} ${JSON.stringify(first.id)} ${which} not synced: ${error}`);
    }
    this.#isTroubleTold = trouble !== undefined;
  }

  #fail(error: unknown): void {
    this.#failures++;
    this.#error = error;
    if (this.#isStaleTold || this.status().state !== "stale") return;
    this.#isStaleTold = true;
    const text = error instanceof HivepaceError ? error.message : String(error);
    warn(
      "HIVEPACE_SYNC_STALE",
      `the usage of other instances is no longer known, and decisions continue without it. ${text}`,
      error,
    );
  }
}

/** The used fraction of a limit. */
function part(used: number, limit: number): number {
  return limit === 0 ? 1 : used / limit;
}
