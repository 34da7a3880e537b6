import { clockRead, globalClockRead } from "../clock-read.ts";
import { limit, resource, resourceNames } from "../limit.ts";
import { flexibleMemory, hivepace, limiterRateLimiter, limiterTokenBucket } from "../peers.ts";
import type { SyncOp, SyncSuite } from "../suite.ts";

const ours = "hivepace tryAcquire";
const bucket = "limiter TokenBucket.tryRemoveTokens";
const flexible = "rate-limiter-flexible memory consume";

const MANY = 1_000;

/** Applies an operation to many names in turn. */
function inTurn(op: (name: string) => boolean): SyncOp {
  const names = [...resourceNames(MANY)];
  let at = 0;
  return () => {
    at = at + 1 === MANY ? 0 : at + 1;
    return op(names[at] as string);
  };
}

export const tryAcquire: SyncSuite = {
  kind: "sync",
  name: "try-acquire",
  title: "One request that is granted, without waiting.",
  capacity: limit.tokens,
  reference: clockRead.name,
  contenders: [
    clockRead,
    globalClockRead,
    {
      name: ours,
      setup() {
        const limiter = hivepace();
        return { op: () => limiter.tryAcquire(resource), close: () => limiter.close() };
      },
    },
    {
      name: `${ours}, ${MANY} resources`,
      note: "one after the other",
      setup() {
        const limiter = hivepace(resourceNames(MANY));
        return { op: inTurn((name) => limiter.tryAcquire(name)), close: () => limiter.close() };
      },
    },
    {
      name: bucket,
      note: "one bucket without a name, so without a lookup",
      setup() {
        const tokens = limiterTokenBucket();
        return { op: () => tokens.tryRemoveTokens(1) };
      },
    },
    {
      name: "limiter RateLimiter.tryRemoveTokens",
      setup() {
        const limiter = limiterRateLimiter();
        return { op: () => limiter.tryRemoveTokens(1) };
      },
    },
    {
      name: flexible,
      note: "returns only a promise, which is created here and not awaited",
      setup() {
        const limiter = flexibleMemory();
        return { op: () => limiter.consume(resource, 1) !== undefined };
      },
    },
    {
      name: `${flexible}, ${MANY} keys`,
      setup() {
        const limiter = flexibleMemory();
        return { op: inTurn((name) => limiter.consume(name, 1) !== undefined) };
      },
    },
  ],
  wanted: [
    { contender: ours, against: bucket, direction: "below", limit: 1 },
    { contender: ours, against: flexible, direction: "below", limit: 1 },
  ],
};
