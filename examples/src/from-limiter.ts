/** The equivalents of `limiter` options and calls: docs/migrating-from-limiter.md. */
import { MemoryLimiter } from "@hivepace/core";

const limiter = new MemoryLimiter();
// new RateLimiter({ tokensPerInterval: 150, interval: "hour" })
limiter.setCapacity("github", 150, 3_600_000);
// new TokenBucket({ bucketSize: 150 * 1024, tokensPerInterval: 50 * 1024, interval: "second" }), except that a
// TokenBucket starts empty
limiter.setCapacity("upload", 50 * 1_024, 1_000, { burst: 150 * 1_024 });

// await limiter.removeTokens(1)
await limiter.acquire("github");
limiter.finish("github"); // new: marks the end of the request
console.log("left:", limiter.getCapacity("github")?.available); // getTokensRemaining()

// tryRemoveTokens(200 * 1024) is always false; so is this, and a wait fails at once with a typed error instead of a
// RangeError.
console.log(limiter.tryAcquire("upload", 200 * 1_024));
await limiter.acquire("upload", { cost: 200 * 1_024 }).catch((error) => console.log(error.code, error.reason));

// A call cannot overtake waiting ones; with `limiter`, tryRemoveTokens does.
await limiter.acquire("upload", { cost: 150 * 1_024 });
const large = limiter.acquire("upload", { cost: 10 * 1_024 });
console.log(limiter.tryAcquire("upload", 1));
await large;
await limiter.close();

/* Output:
left: 149
false
CAPACITY_EXHAUSTED too-large
false
*/
