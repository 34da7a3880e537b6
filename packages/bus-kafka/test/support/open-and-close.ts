import { kafkaBus } from "@hivepace/bus-kafka";

const bus = await kafkaBus({ brokers: [process.argv[2] ?? ""], waitForBroker: process.argv[3] === "wait" });
if (bus.state === "ready") {
  await bus.subscribe("a", () => {});
  await bus.publish("a", new Uint8Array(1));
}
await bus.close();
// The script contains no `process.exit`: the process must exit by itself.
