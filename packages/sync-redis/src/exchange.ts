import { isCluster, isReply, type RedisClient, type RedisClusterClient, type RedisPipeline } from "./client.ts";
import type { SyncKey } from "./sync-keys.ts";

/** One call of the script: those of its keys that have changed come first, each with two numbers. */
export interface Call {
  /** Whose answers these are, by their place in the report. */
  readonly places: readonly number[];
  readonly keys: readonly string[];
  readonly args: readonly string[];
}

/** A script, and by which name Redis knows it once it has seen it. */
export interface Script {
  readonly text: string;
  readonly sha: string;
}

/** What Redis answered to a call: its lines, or why there are none. */
export type Answer = readonly string[] | Error;

/**
 * What is read and written by one call keeps Redis from everything else meanwhile: about five milliseconds for this many.
 * All calls of a sync go out together and are one round trip.
 */
const MOST_KEYS = 1_000;

/** Puts things that may share a call together: any on one server, those of one slot in a Cluster. */
export function groupKeys(keys: readonly SyncKey[], client: RedisClient | RedisClusterClient): number[][] {
  // Without anything to ask for, the time is asked for.
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

/** Sends all calls, in one pipeline, in a Cluster one for each node. Answers in the order of the calls. */
export async function exchange(
  client: RedisClient | RedisClusterClient,
  calls: readonly Call[],
  slots: readonly number[],
  script: Script,
): Promise<Answer[]> {
  const answers: Answer[] = [];
  const batches = new Map<string, number[]>();
  for (const i of calls.keys()) {
    const node = isCluster(client) ? (client.slots[slots[i] as number]?.join(";") ?? "") : "";
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

/** `load`: the first call brings the script along, and those behind it in the pipeline find it there. */
async function send(client: RedisClient, calls: readonly Call[], script: Script, load: boolean): Promise<Answer[]> {
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
