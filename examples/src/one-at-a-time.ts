/** Agents in several processes share accounts that allow one call at a time each. */
import { setTimeout } from "node:timers/promises";
import { memoryBroker, memoryBus } from "@hivepace/bus";
import { createHive } from "@hivepace/distributed";

const broker = memoryBroker(); // NATS, Redis or Kafka
const accounts = { "account-1": { maxInFlight: 1 }, "account-2": { maxInFlight: 1 } };

// In production each agent is a separate process.
const start = (agentId: string) =>
  createHive({
    bus: memoryBus(broker),
    namespace: "one-at-a-time",
    agentId,
    expectedAgents: 3,
    heartbeatIntervalMs: 400, // so that the example is short; a second by default
    endpoints: [{ id: "chat" }],
    keys: accounts,
    leaseMs: 30_000, // little more than the longest call: a crashed agent blocks its account for that long at most
  });
const hives = await Promise.all(["ada", "bob", "cy"].map(start));

const underWay = { "account-1": 0, "account-2": 0 };
let most = 0;
async function chat(hive: (typeof hives)[number], account: keyof typeof accounts): Promise<void> {
  const lease = await hive.acquire({ endpoint: "chat", key: account });
  try {
    most = Math.max(most, ++underWay[account]);
    await setTimeout(50); // the call
  } finally {
    underWay[account]--;
    lease.done();
  }
}

const calls = hives.flatMap((hive) => [chat(hive, "account-1"), chat(hive, "account-2"), chat(hive, "account-1")]);
await Promise.all(calls);
console.log(`${calls.length} calls, at most ${most} at a time for each account`);

// While one agent calls, the others see why they wait.
const [ada, bob] = hives as [(typeof hives)[number], (typeof hives)[number]];
const lease = await ada.acquire({ endpoint: "chat", key: "account-1" });
await setTimeout(500);
console.log(bob.tryAcquire({ endpoint: "chat", key: "account-1" }).limitedBy);
lease.done();

await Promise.all(hives.map((hive) => hive.close()));

/* Output:
9 calls, at most 1 at a time for each account
key-in-flight
*/
