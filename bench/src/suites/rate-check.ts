import { RateManager } from "@hivepace/core";
import { TokenBucket } from "limiter";
import { RateLimiterMemory, RateLimiterUnion } from "rate-limiter-flexible";
import { clockRead, globalClockRead } from "../clock-read.ts";
import { limit } from "../limit.ts";
import type { SyncOp, SyncSuite } from "../suite.ts";

const check = "hivepace check, key and endpoint";
const handle = "hivepace handle, key and endpoint";
const union = "rate-limiter-flexible Union of two";

const TOKENS = 10;
/** The maximum of a counter: nothing is refused in a window of a second. */
const REQUESTS = 16_000_000;
const target = { endpoint: "anthropic-primary", key: "openai:key-0000001" };

function manager(isShared: boolean): RateManager {
  const it = new RateManager({ windowMs: limit.windowMs });
  it.setEndpoint({ id: target.endpoint, rpmLimit: REQUESTS, tpmLimit: limit.tokens });
  it.setKey(target.key, { rpmLimit: REQUESTS, tpmLimit: limit.tokens });
  if (isShared) it.share();
  return it;
}

function checking(isShared: boolean): SyncOp {
  const it = manager(isShared);
  const request = { ...target, tokens: TOKENS };
  return () => it.check(request).allowed;
}

function handling(isShared: boolean): SyncOp {
  const it = manager(isShared).handle(target);
  return () => it.check(TOKENS).allowed;
}

/** Strings that were never looked up before, so that their hash is computed each time. */
function fresh(): SyncOp {
  const it = manager(false);
  const endpoint = `${target.endpoint}-`;
  const key = `${target.key}-`;
  return () => it.check({ endpoint: endpoint.slice(0, -1), key: key.slice(0, -1), tokens: TOKENS }).allowed;
}

export const rateCheck: SyncSuite = {
  kind: "sync",
  name: "rate-check",
  title: "May this key send these tokens to this endpoint? Requests and tokens, of both, granted.",
  capacity: limit.tokens,
  reference: clockRead.name,
  contenders: [
    clockRead,
    globalClockRead,
    { name: check, setup: () => ({ op: checking(false) }) },
    { name: handle, setup: () => ({ op: handling(false) }) },
    { name: `${check}, fresh strings`, note: "includes cutting the strings", setup: () => ({ op: fresh() }) },
    {
      name: "limiter, four TokenBuckets",
      note: "requests and tokens of both, without names and without a way back when the fourth refuses",
      setup() {
        const buckets = Array.from({ length: 4 }, () => {
          const { tokens, windowMs } = limit;
          const bucket = new TokenBucket({ bucketSize: tokens, tokensPerInterval: tokens, interval: windowMs });
          bucket.content = tokens;
          return bucket;
        }) as [TokenBucket, TokenBucket, TokenBucket, TokenBucket];
        const [a, b, c, d] = buckets;
        return {
          op: () =>
            a.tryRemoveTokens(1) && b.tryRemoveTokens(TOKENS) && c.tryRemoveTokens(1) && d.tryRemoveTokens(TOKENS),
        };
      },
    },
    {
      name: union,
      note: "only two limits; its promise is created and not awaited",
      setup() {
        const two = ["key", "endpoint"].map(
          (keyPrefix) => new RateLimiterMemory({ keyPrefix, points: limit.tokens, duration: limit.windowMs / 1_000 }),
        );
        const limiter = new RateLimiterUnion(...two);
        return { op: () => limiter.consume(target.key, TOKENS) !== undefined };
      },
    },
  ],
  wanted: [
    { contender: check, against: globalClockRead.name, direction: "at most", limit: 2.5 },
    { contender: handle, against: globalClockRead.name, direction: "at most", limit: 2 },
    { contender: union, against: check, direction: "at least", limit: 5 },
  ],
};

/**
 * A separate suite after the other: a process uses only one kind of memory, and V8 compiles different code for both.
 */
export const rateShared: SyncSuite = {
  kind: "sync",
  name: "rate-shared",
  title: "The same on memory that worker threads share.",
  capacity: limit.tokens,
  reference: globalClockRead.name,
  contenders: [
    globalClockRead,
    { name: `${check}, shared memory`, setup: () => ({ op: checking(true) }) },
    { name: `${handle}, shared memory`, setup: () => ({ op: handling(true) }) },
  ],
  wanted: [],
};
