/** The equivalents of `bottleneck` options and calls: docs/migrating-from-bottleneck.md. */
import { isHivepaceError, MemoryLimiter } from "@hivepace/core";

// new Bottleneck.Group({ reservoir: 3, … }) and highWater: 2 with the strategy OVERFLOW.
const limiter = new MemoryLimiter({ maxQueue: 2, capacityFor: () => ({ capacity: 3, windowMs: 60_000 }) });

// reservoir: 100, reservoirRefreshAmount: 100, reservoirRefreshInterval: 60_000
limiter.setCapacity("api", 100, 60_000);
// minTime: 250
limiter.setCapacity("crawler", 1, 250);
// reservoir: 40, reservoirIncreaseAmount: 2, reservoirIncreaseInterval: 1_000, reservoirIncreaseMaximum: 40
limiter.setCapacity("shop", 2, 1_000, { burst: 40 });

// schedule(() => call()), and schedule({ weight: 10 }, …)
console.log(await limiter.run("api", async () => "sent"));
await limiter.run("api", async () => {}, { cost: 10 });
console.log("currentReservoir:", limiter.getCapacity("api")?.available);

// wrap(call)
const call = async (page: number) => `page ${page}`;
const wrapped = (page: number) => limiter.run("crawler", () => call(page));
console.log(await Promise.all([wrapped(1), wrapped(2)]));

// 40 at once, because the bucket is full, and then two a second.
let burst = 0;
while (limiter.tryAcquire("shop")) burst++;
console.log("at once:", burst);

// priority: a higher number goes first, as if it had waited that many seconds longer; in bottleneck, a lower number
// always goes first.
const order: string[] = [];
const job = (name: string, priority: number) => limiter.run("crawler", async () => order.push(name), { priority });
await Promise.all([job("whenever", -40), job("urgent", 50)]);
console.log(order);

// Each key of a group has its own limit. The queue is bounded, and a rejected call learns when to try again.
const jobs = Array.from({ length: 6 }, () => limiter.acquire("77.66.54.32", { timeoutMs: 500 }));
const outcomes = await Promise.allSettled(jobs);
const reasons = outcomes.map((outcome) => {
  if (outcome.status === "fulfilled") return "granted";
  return isHivepaceError(outcome.reason, "CAPACITY_EXHAUSTED") ? outcome.reason.reason : "?";
});
console.log(reasons.join(", "));

// stop(): rejects waiting calls.
await limiter.close();

/* Output:
sent
currentReservoir: 89
[ 'page 1', 'page 2' ]
at once: 40
[ 'urgent', 'whenever' ]
granted, granted, granted, timeout, timeout, queue-full
*/
