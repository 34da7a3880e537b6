import type { Redis } from "ioredis";

/** All commands that Redis has executed for clients and scripts, except the one that asks. */
export async function commandsOf(redis: Redis): Promise<number> {
  const text = await redis.info("commandstats");
  return [...text.matchAll(/^cmdstat_(?!info)[^:]+:calls=(\d+)/gm)].reduce((sum, [, calls]) => sum + Number(calls), 0);
}
