/** An outage of the bus: the program sees a change of mode, and its calls go on. */
import { setTimeout } from "node:timers/promises";
import { memoryBroker, memoryBus } from "@hivepace/bus";
import { createHive, type Hive } from "@hivepace/distributed";

const broker = memoryBroker(); // NATS, Redis or Kafka; this one can be switched off
const start = (agentId: string) =>
  createHive({
    bus: memoryBus(broker),
    namespace: "example",
    agentId,
    expectedAgents: 2,
    heartbeatIntervalMs: 400, // so that the example is short; a second by default
    endpoints: [{ id: "eu", rpmLimit: 100 }],
  });
const [ada, bob] = await Promise.all([start("ada"), start("bob")]);
const show = ({ mode, bus, lastFailure }: ReturnType<Hive["status"]>) =>
  console.log(`${mode}, bus ${bus}${lastFailure ? `, ${lastFailure.split(":")[0]}` : ""}`);
const until = async (mode: string) => {
  while (ada.status().mode !== mode || bob.status().mode !== mode) await setTimeout(20);
};

await until("member");
show(ada.status());

broker.stop();
await until("isolated"); // 2.5 heartbeats after a message that was not echoed
show(ada.status());
console.log(ada.explain("eu").text);

// Calls go on within the agent's share: no call waits for the broker, and no agent takes the whole limit.
let granted = 0;
while (ada.tryAcquire({ endpoint: "eu" }).allowed) granted++;
console.log(granted > 0 && granted <= 50);

broker.start();
await until("member"); // the agent joins again, as a new one does
show({ ...ada.status(), lastFailure: undefined });

await Promise.all([ada.close(), bob.close()]);

/* Output:
member, bus ready
isolated, bus interrupted, BusUnavailableError
eu: 0 of 99 requests used in the last 60 s; this agent does not hear the others and keeps to its part; has room now
true
member, bus ready
*/
