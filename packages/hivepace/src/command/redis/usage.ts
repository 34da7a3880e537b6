import type { SyncStore } from "@hivepace/core";
import type { SwarmSnapshot } from "@hivepace/distributed";
import { type Endpoint, nameOf, splitName } from "./endpoints.ts";

/** The counts of all instances for one endpoint in the present window. */
export interface Usage extends Endpoint {
  readonly requests: number;
  readonly tokens: number;
  readonly agents: number;
  /** Utilization of the tightest limit, which may exceed 1; undefined when no limit is known. */
  readonly utilization: number | undefined;
  /** The reason why the counts could not be read. */
  readonly error: string | undefined;
}

export interface UsageReading {
  readonly windowMs: number;
  /** Milliseconds since the start of the present window, by the clock of Redis. */
  readonly elapsedMs: number;
  readonly endpoints: readonly Usage[];
}

export interface Reader {
  readonly store: SyncStore;
  readonly namespace: string;
  readonly windowMs: number;
}

/** Reads the counts once, without writing to Redis. Rejects with SYNC_UNAVAILABLE. */
export async function readUsage(reader: Reader, endpoints: readonly Endpoint[]): Promise<UsageReading> {
  const { store, namespace, windowMs } = reader;
  const watched = endpoints.map(({ id, model }) => ({ kind: "endpoint", id, model }));
  const reply = await store.sync({
    namespace,
    agentId: "hivepace-command",
    incarnation: "1",
    sequence: 1,
    windowMs,
    window: undefined,
    counts: [],
    watched,
  });
  return {
    windowMs,
    elapsedMs: reply.epochMs - reply.window * windowMs,
    endpoints: endpoints.map((endpoint, i) => {
      const { requests = 0, tokens = 0, agents = 0, error } = reply.sums[i] ?? {};
      return { ...endpoint, requests, tokens, agents, utilization: used(endpoint, requests, tokens), error };
    }),
  };
}

/** Returns the endpoints known on the bus, with their limits. Limits with their own window are not counted in Redis. */
export function endpointsOf({ resources }: Pick<SwarmSnapshot, "resources">): Endpoint[] {
  return resources
    .filter(({ resource }) => !resource.includes("@"))
    .map(({ resource, limits }) => ({
      ...splitName(resource),
      rpmLimit: finite(limits.find(({ dimension }) => dimension === "requests")?.limit),
      tpmLimit: finite(limits.find(({ dimension }) => dimension === "tokens")?.limit),
    }));
}

/** Merges lists of endpoints; of equal names the first one is kept. */
export function merged(...lists: readonly (readonly Endpoint[])[]): Endpoint[] {
  const byName = new Map<string, Endpoint>();
  for (const endpoint of lists.flat()) if (!byName.has(nameOf(endpoint))) byName.set(nameOf(endpoint), endpoint);
  return [...byName.values()];
}

function used({ rpmLimit, tpmLimit }: Endpoint, requests: number, tokens: number): number | undefined {
  if (rpmLimit === undefined && tpmLimit === undefined) return undefined;
  return Math.max(requests / (rpmLimit ?? Infinity), tokens / (tpmLimit ?? Infinity));
}

function finite(limit: number | undefined): number | undefined {
  return limit === Infinity ? undefined : limit;
}
