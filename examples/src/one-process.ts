/** One process, one API: 60 requests a minute, and earlier calls wait for their turn. */
import { MemoryLimiter } from "@hivepace/core";

const call = async () => "the model's answer"; // your SDK, your fetch

const limiter = new MemoryLimiter();
limiter.setCapacity("openai", 60, 60_000);

console.log(await limiter.run("openai", () => call()));
await limiter.close();

/* Output:
the model's answer
*/
