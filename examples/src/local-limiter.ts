/** Local rate limiting: one process, one API, ten requests in ten seconds. */
import { MemoryLimiter } from "@hivepace/core";

const limiter = new MemoryLimiter();
limiter.setCapacity("openai-api", 10, 10_000);

// Wait until a token is available. The signal ends the wait, as a request's own cancellation would.
const signal = AbortSignal.timeout(5_000);
await limiter.acquire("openai-api", { signal });
try {
  console.log("make the request");
} finally {
  limiter.finish("openai-api");
}

// Or try without waiting, and do something else when no token is available.
let sent = 0;
while (limiter.tryAcquire("openai-api")) {
  sent++;
  limiter.finish("openai-api");
}
console.log(`sent ${sent} more at once`);

// `run` covers most cases: it waits, runs the work, and ends the request even when the work fails.
const answer = await limiter.run("openai-api", async () => "the eleventh had to wait for its token");
console.log(answer);

const { total, windowMs, inFlight } = limiter.getCapacity("openai-api") ?? {};
console.log({ total, windowMs, inFlight });
await limiter.close();

/* Output:
make the request
sent 9 more at once
the eleventh had to wait for its token
{ total: 10, windowMs: 10000, inFlight: 0 }
*/
