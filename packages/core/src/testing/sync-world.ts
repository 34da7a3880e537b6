import { isHivepaceError } from "../errors.ts";
import type { SyncCount, SyncName, SyncReply, SyncReport, SyncStore } from "../sync-store.ts";

/** The `test` function of a test runner: vitest, node or jest. */
export type SyncTestFunction = (name: string, body: () => Promise<void>, timeoutMs?: number) => unknown;

/** Options of the conformance suite of a sync store. */
export interface SyncStoreSuiteOptions {
  readonly test: SyncTestFunction;
  /** Opens a new store on the same server. The suite closes it. */
  readonly open: () => Promise<SyncStore>;
  /**
   * Kills the server, calls `whileAway`, and starts the server again at the same address, with its data or empty.
   * Without this function the outage laws are skipped.
   */
  readonly restart?: ((whileAway?: () => Promise<void>) => Promise<void>) | undefined;
}

/** A window so long that no window edge falls into a test. */
export const LONG_WINDOW_MS = 1_000_000_000;
/** Time limit for any wait, long enough for a starting server; waits end as soon as their condition holds. */
export const PATIENCE_MS = 120_000;

/** The environment of one law: stores that are closed afterwards, and a namespace of its own. */
export interface SyncWorld {
  readonly namespace: string;
  open(): Promise<SyncStore>;
  /** Returns an instance that reports to a store of its own, in long windows. */
  instance(
    agentId: string,
    options?: { incarnation?: string; store?: SyncStore; windowMs?: number },
  ): Promise<Instance>;
}

export interface Instance {
  readonly store: SyncStore;
  /** Reports these counts in the store's present window, and reads the sums of the watched names. */
  report(counts: readonly SyncCount[], watched?: readonly SyncName[], change?: Partial<SyncReport>): Promise<SyncReply>;
}

export type SyncLaw = readonly [name: string, body: (world: SyncWorld) => Promise<void>];

let worlds = 0;
const run = Math.random().toString(36).slice(2, 8);

export async function inSyncWorld(
  open: () => Promise<SyncStore>,
  body: (world: SyncWorld) => Promise<void>,
): Promise<void> {
  const opened: SyncStore[] = [];
  const namespace = `suite-${run}-${worlds++}`;
  const openOne = async (): Promise<SyncStore> => {
    const store = await open();
    opened.push(store);
    return store;
  };
  try {
    await body({
      namespace,
      open: openOne,
      async instance(agentId, options = {}) {
        const { incarnation = "1", windowMs = LONG_WINDOW_MS } = options;
        const store = options.store ?? (await openOne());
        let sequence = 0;
        const base = { namespace, agentId, incarnation, windowMs };
        const { window } = await store.sync({ ...base, sequence, window: undefined, counts: [], watched: [] });
        return {
          store,
          report: (counts, watched = [], change = {}) =>
            store.sync({ ...base, sequence: ++sequence, window, counts, watched, ...change }),
        };
      },
    });
  } finally {
    await Promise.all(opened.map((store) => store.close()));
  }
}

export const endpoint = (id: string, model?: string): SyncName => ({ kind: "endpoint", id, model });
export const counted = (of: SyncName, requests: number, tokens: number): SyncCount => ({ of, requests, tokens });

export function same(actual: unknown, expected: unknown, what: string): void {
  const [a, e] = [JSON.stringify(actual), JSON.stringify(expected)];
  if (a !== e) throw new Error(`${what}: expected ${shorten(e)}, got ${shorten(a)}`);
}

const shorten = (json = "undefined"): string => (json.length > 400 ? `${json.slice(0, 400)}…` : json);

/** Returns the requests, tokens and agents of each sum. */
export const sums = ({ sums: all }: SyncReply): number[][] =>
  all.map(({ requests, tokens, agents }) => [requests, tokens, agents]);

export async function rejectsWith(promise: Promise<unknown>, code: string, what: string): Promise<void> {
  const outcome = await inTime(promise, what).then(
    () => "the promise resolved",
    (error: unknown) => (isHivepaceError(error, code) ? undefined : `the promise rejected with ${String(error)}`),
  );
  if (outcome !== undefined) throw new Error(`${what}: expected ${code}, but ${outcome}`);
}

/** Returns the result of the promise; throws after `PATIENCE_MS`. */
export async function inTime<T>(promise: Promise<T>, what: string): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`timed out after ${PATIENCE_MS} ms: ${what}`)), PATIENCE_MS);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Repeats the work until it returns a value; rejections count as no value. Throws after `PATIENCE_MS`. */
export async function eventually<T>(work: () => Promise<T | undefined>, what: string): Promise<T> {
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    const result = await work().catch(() => undefined);
    if (result !== undefined) return result;
    if (performance.now() > deadline) throw new Error(`timed out after ${PATIENCE_MS} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
