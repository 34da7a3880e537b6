import { parentPort } from "node:worker_threads";
import { memoryBus, threadBroker } from "@hivepace/bus";

// A memory bus does not keep its thread alive; the listener on the parent port does, until that port is closed.
parentPort?.on("message", () => {});

/** Answers every message until the message "end" arrives. */
const bus = await memoryBus(threadBroker("threads-test"));
await bus.subscribe("ask", (payload) => {
  const text = new TextDecoder().decode(payload);
  if (text === "end") void bus.close().then(() => parentPort?.close());
  else void bus.publish("answer", new TextEncoder().encode(`heard ${text}`));
});
parentPort?.postMessage("ready");
