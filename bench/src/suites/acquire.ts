import { Effect } from "effect";
import { limit, resource } from "../limit.ts";
import {
  bottleneck,
  effectConsume,
  flexibleMemory,
  hivepace,
  limiterRateLimiter,
  limiterTokenBucket,
  pQueue,
  pRateLimited,
  pThrottled,
} from "../peers.ts";
import type { AsyncOp, AsyncSuite, Contender } from "../suite.ts";

const ours = "hivepace acquire";
const bareAwait = "bare await";
const options = { cost: 2 };

/** The limited work does nothing, so that only the limiter is measured. */
const work = async (): Promise<void> => {};

/** Libraries that grant permission first, then those that call the work themselves. */
export const asyncContenders: readonly Contender<AsyncOp>[] = [
  { name: bareAwait, note: "await Promise.resolve()", setup: () => ({ op: () => Promise.resolve() }) },
  {
    name: ours,
    setup() {
      const limiter = hivepace();
      return { op: () => limiter.acquire(resource), close: () => limiter.close() };
    },
  },
  {
    name: `${ours} with a cost`,
    setup() {
      const limiter = hivepace();
      return { op: () => limiter.acquire(resource, options), close: () => limiter.close() };
    },
  },
  {
    name: "limiter TokenBucket.removeTokens",
    setup() {
      const tokens = limiterTokenBucket();
      return { op: () => tokens.removeTokens(1) };
    },
  },
  {
    name: "limiter RateLimiter.removeTokens",
    setup() {
      const limiter = limiterRateLimiter();
      return { op: () => limiter.removeTokens(1) };
    },
  },
  {
    name: "rate-limiter-flexible memory consume",
    setup() {
      const limiter = flexibleMemory();
      return { op: () => limiter.consume(resource, 1) };
    },
  },
  {
    name: "effect RateLimiter.consume",
    note: "in memory, each request run as a promise",
    setup() {
      const consume = effectConsume();
      return { op: () => Effect.runPromise(consume) };
    },
  },
  {
    name: "hivepace run",
    note: "acquire, call an empty async function, finish; the four below do the same",
    setup() {
      const limiter = hivepace();
      return { op: () => limiter.run(resource, work), close: () => limiter.close() };
    },
  },
  {
    name: "p-throttle",
    setup() {
      const throttled = pThrottled(work);
      return { op: () => throttled() };
    },
  },
  {
    name: "p-ratelimit",
    setup() {
      const limited = pRateLimited();
      return { op: () => limited(work) };
    },
  },
  {
    name: "p-queue",
    note: "as many jobs for each interval as the limit",
    setup() {
      const queue = pQueue();
      return { op: () => queue.add(work), close: () => queue.clear() };
    },
  },
  {
    name: "bottleneck schedule",
    note: "its store yields to a timer of a millisecond several times for each job, one job after the other",
    setup() {
      const limiter = bottleneck();
      return { op: () => limiter.schedule(work), close: () => limiter.disconnect() };
    },
  },
];

/** Hivepace claims to be faster than every other contender. */
const peers = asyncContenders
  .map(({ name }) => name)
  .filter((name) => name !== bareAwait && !name.startsWith("hivepace"));

export const acquire: AsyncSuite = {
  kind: "async",
  name: "acquire",
  title: "One request that need not wait, awaited before the next.",
  // One of the contenders asks for more than one token.
  capacity: limit.tokens / options.cost,
  reference: bareAwait,
  contenders: asyncContenders,
  wanted: [
    { contender: ours, against: bareAwait, direction: "at most", limit: 4 },
    ...peers.map((against) => ({ contender: ours, against, direction: "below", limit: 1 }) as const),
  ],
};
