/** A self-hosted model of unknown capacity: the limit on calls under way adapts, and is the same for all agents. */
import { setTimeout } from "node:timers/promises";
import { memoryBroker, memoryBus } from "@hivepace/bus";
import { createHive } from "@hivepace/distributed";

// The model works on four calls at a time, and refuses from the seventh on.
let underWay = 0;
let refused = 0;
async function generate(): Promise<"answered" | "overloaded"> {
  if (underWay >= 6) return "overloaded"; // a 503 or 529
  underWay++;
  await setTimeout(40 * Math.max(1, underWay / 4));
  underWay--;
  return "answered";
}

const broker = memoryBroker(); // NATS, Redis or Kafka
const start = (agentId: string) =>
  createHive({
    bus: memoryBus(broker),
    namespace: "self-hosted",
    agentId,
    expectedAgents: 2,
    heartbeatIntervalMs: 400, // so that the example is short; a second by default
    endpoints: [{ id: "llama", maxInFlight: { adaptive: { min: 1, max: 32, start: 16 } } }],
  });
const hives = await Promise.all(["ada", "bob"].map(start));

let answered = 0;
async function work(hive: (typeof hives)[number]): Promise<void> {
  while (answered < 500) {
    const lease = await hive.acquire({ endpoint: "llama" });
    if ((await generate()) === "answered") {
      answered++;
      lease.done();
    } else {
      refused++;
      lease.refused({ reason: "503 from the model", kind: "overload" }); // a limited fetch does this by itself
    }
  }
}
await Promise.all(hives.flatMap((hive) => Array.from({ length: 10 }, () => work(hive))));

const limits = () => hives.map((hive) => hive.explain("llama").slots?.limit ?? 0) as [number, number];
while (limits()[0] !== limits()[1]) await setTimeout(50); // the last change reaches the other agent
console.log("both agents hold the same number");
console.log(limits()[0] < 16 ? "which is lower than the first" : limits());
console.log(refused < answered / 4 ? "most calls were answered" : { answered, refused });

await Promise.all(hives.map((hive) => hive.close()));

/* Output:
both agents hold the same number
which is lower than the first
most calls were answered
*/
