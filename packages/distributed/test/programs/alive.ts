/** Tests whether the process ends by itself, and not too early. Nothing is closed here on purpose. */
import { memoryBus } from "@hivepace/bus";
import { createDistributedLimiter } from "../../src/index.ts";

const limiter = await createDistributedLimiter({ bus: await memoryBus(), agentId: "only" });
limiter.setCapacity("api", 1, 500);
if (process.argv[2] === "idle") console.log("idle");
else {
  // The limiter joins the swarm first, and then waits for the window.
  await limiter.acquire("api");
  await limiter.acquire("api");
  console.log("granted");
}
