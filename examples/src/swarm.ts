/** Three agents, one account: together they stay within its limit, and a 429 of one slows all of them down. */
import { memoryBroker, memoryBus } from "@hivepace/bus";
import { createDistributedLimiter } from "@hivepace/distributed";

// In production each agent is a separate process and the bus is NATS, Redis or Kafka.
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

// A new agent joins before its first request; acquire and run wait for that.
const answer = await ada.limiter.run("openai", async () => "the model's answer");
console.log(answer);

// Every agent knows the usage of the others, and the limit is common.
console.log(ada.limiter.status().members, "agents");
console.log(bob.limiter.getCapacity("openai")?.total, "requests a minute together");

// One agent is refused: within milliseconds all agents know.
const heard = new Promise((resolve) =>
  bob.limiter.onCapacityChange(({ agentId, reason, newCapacity }) => resolve(`${agentId}: ${reason}, ${newCapacity}`)),
);
ada.limiter.announceReduced("openai", "received 429");
console.log(await heard);

for (const { limiter, bus } of agents) {
  await limiter.close(); // announces the departure: its share is free at once
  await bus.close();
}

/* Output:
the model's answer
3 agents
60 requests a minute together
ada: received 429, 30
*/
