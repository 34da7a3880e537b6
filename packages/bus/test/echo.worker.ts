import { parentPort } from "node:worker_threads";
import { memoryBus, threadBroker } from "@hivepace/bus";

// A memory bus does not keep its thread alive; listening to the parent does, until that is closed.
parentPort?.on("message", () => {});

/** Answers what it hears, until it hears "end". */
const bus = await memoryBus(threadBroker("threads-test"));
await bus.subscribe("ask", (payload) => {
  const text = new TextDecoder().decode(payload);
  if (text === "end") void bus.close().then(() => parentPort?.close());
  else void bus.publish("answer", new TextEncoder().encode(`heard ${text}`));
});
parentPort?.postMessage("ready");
