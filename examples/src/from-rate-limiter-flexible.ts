/** The equivalents of `rate-limiter-flexible` options and calls: docs/migrating-from-rate-limiter-flexible.md. */
import { MemoryLimiter, RateManager } from "@hivepace/core";

// new RateLimiterMemory({ points: 3, duration: 60 }), consume(key): a denial is a returned value, not a rejection.
const manager = new RateManager({
  windowMs: 86_400_000, // a minute by default; a day here, so that no window ends in the middle of the example
  limitsForKey: () => ({ rpmLimit: 3 }),
});
manager.setEndpoint({ id: "login" });
const ask = (key: string) => manager.check({ endpoint: "login", key, tokens: 0 });
console.log([1, 2, 3].map(() => ask("10.0.0.7").allowed));
const { allowed, currentRpm, limitRpm, limitedBy, retryAfterMs } = ask("10.0.0.7");
console.log({ allowed, currentRpm, limitRpm, limitedBy }, retryAfterMs !== undefined); // msBeforeNext

// get(key): checks without counting.
console.log(manager.peek({ endpoint: "login", key: "10.0.0.8", tokens: 0 }).allowed);

// reward(key): returns a request that was counted and never sent.
manager.cancel(ask("10.0.0.8"));
console.log([1, 2, 3, 4].map(() => ask("10.0.0.8").allowed));

// new RateLimiterQueue(limiter), removeTokens(1): waits in a queue.
const limiter = new MemoryLimiter();
limiter.setCapacity("crawler", 2, 100);
const startedAt = performance.now();
await Promise.all([1, 2, 3].map((page) => limiter.run("crawler", async () => page)));
console.log(performance.now() - startedAt >= 49);
await limiter.close();

/* Output:
[ true, true, true ]
{ allowed: false, currentRpm: 3, limitRpm: 3, limitedBy: 'key-rpm' } true
true
[ true, true, true, false ]
true
*/
