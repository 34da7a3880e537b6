/** Three agents, one account: together they stay within its limit, and when one gets a 429 all slow down. */
import { memoryBroker, memoryBus } from "@hivepace/bus";
import { createDistributedLimiter } from "@hivepace/distributed";

// In production each agent is a process of its own and the bus is NATS, Redis or Kafka.
const broker = memoryBroker();
const agents = await Promise.all(
  ["ada", "bob", "cleo"].map(async (agentId) => {
    const bus = await memoryBus(broker);
    const limiter = await createDistributedLimiter({ bus, agentId, expectedAgents: 3 });
    limiter.setCapacity("openai", 60, 60_000); // 60 requests a minute, for all of them together
    return { limiter, bus };
  }),
);
const [ada, bob] = agents as [(typeof agents)[0], (typeof agents)[0], (typeof agents)[0]];

// A newcomer listens for a moment before its first request; acquire and run wait for that.
const answer = await ada.limiter.run("openai", async () => "the model's answer");
console.log(answer);

// What the others have used is known, and nobody has more than the limit.
console.log(ada.limiter.status().members, "agents");
console.log(bob.limiter.getCapacity("openai")?.total, "requests a minute together");

// One agent is refused: within milliseconds all have heard of it.
const heard = new Promise((resolve) =>
  bob.limiter.onCapacityChange(({ agentId, reason, newCapacity }) => resolve(`${agentId}: ${reason}, ${newCapacity}`)),
);
ada.limiter.announceReduced("openai", "received 429");
console.log(await heard);

for (const { limiter, bus } of agents) {
  await limiter.close(); // says goodbye: its part is free at once
  await bus.close();
}

/* Output:
the model's answer
3 agents
60 requests a minute together
ada: received 429, 30
*/
