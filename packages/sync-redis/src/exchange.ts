import { isCluster, isReply, slotOwner } from "@hivepace/redis-client";
import type { AnyRedisClient, RedisPipeline } from "@hivepace/redis-client/types";
import type { SyncKey } from "./sync-keys.ts";

/** One call of the script. Keys with changed counts come first, and each of them has two numbers in `args`. */
export interface Call {
  /** The places in the report that the answers belong to. */
  readonly places: readonly number[];
  readonly keys: readonly string[];
  readonly args: readonly string[];
}

/** A script, and the digest by which Redis identifies it. */
export interface Script {
  readonly text: string;
  readonly sha: string;
}

/** The reply of Redis to a call: its lines, or an error. */
export type Answer = readonly string[] | Error;

/**
 * The maximum number of keys of one call outside a Cluster. A call blocks Redis, for about five milliseconds with this
 * many keys. All calls of a sync go out together and take one round trip.
 */
const MOST_KEYS = 1_000;

/**
 * Groups the places of keys that share a call: up to `MOST_KEYS` keys on one server, the keys of one slot in a Cluster.
 */
export function groupKeys(keys: readonly SyncKey[], client: AnyRedisClient): number[][] {
  // A call without keys still returns the time.
  if (keys.length === 0) return [[]];
  const groups = new Map<number, number[]>();
  for (const [place, { slot }] of keys.entries()) {
    const group = isCluster(client) ? slot : Math.floor(place / MOST_KEYS);
    const places = groups.get(group);
    if (places) places.push(place);
    else groups.set(group, [place]);
  }
  return [...groups.values()];
}

/**
 * Sends all calls in one pipeline, or in a Cluster in one pipeline per node. Returns the answers in the order of the
 * calls.
 */
export async function exchange(
  client: AnyRedisClient,
  calls: readonly Call[],
  slots: readonly number[],
  script: Script,
): Promise<Answer[]> {
  const answers: Answer[] = [];
  const batches = new Map<string, number[]>();
  for (const i of calls.keys()) {
    const node = isCluster(client) ? slotOwner(client, slots[i] as number) : "";
    const batch = batches.get(node);
    if (batch) batch.push(i);
    else batches.set(node, [i]);
  }
  await Promise.all(
    [...batches.values()].map(async (batch) => {
      const ours = batch.map((i) => calls[i] as Call);
      const replies = await send(client, ours, script, false);
      const isForgotten = replies.some((reply) => isReply(reply) && reply.message.startsWith("NOSCRIPT"));
      const last = isForgotten ? await send(client, ours, script, true) : replies;
      for (const [at, i] of batch.entries()) answers[i] = last[at] as Answer;
    }),
  );
  return answers;
}

/**
 * Sends calls in one pipeline. With `load`, the first call contains the script, which the later calls then find cached.
 */
async function send(client: AnyRedisClient, calls: readonly Call[], script: Script, load: boolean): Promise<Answer[]> {
  const pipeline = client.pipeline() as RedisPipeline;
  for (const [i, { keys, args }] of calls.entries()) {
    if (load && i === 0) pipeline.eval(script.text, keys.length, ...keys, ...args);
    else pipeline.evalsha(script.sha, keys.length, ...keys, ...args);
  }
  const replies = await pipeline.exec().catch((error: Error) => calls.map((): [Error] => [error]));
  return calls.map((_, i) => {
    const [error, reply] = replies?.[i] ?? [new Error("no answer")];
    return error ?? (reply as string[]);
  });
}
