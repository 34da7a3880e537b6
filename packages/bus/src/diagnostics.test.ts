import type { DiagnosticEvents } from "@hivepace/core";
import { hear } from "@hivepace/test-kit";
import { expect, test } from "vitest";
import { memoryBroker } from "./memory-broker.ts";
import { memoryBus } from "./memory-bus.ts";
import { namespacedBus } from "./namespaced-bus.ts";

test("each state change of a bus is published once, no matter how many wrappers there are", async () => {
  using heard = hear<DiagnosticEvents>(["hivepace:bus"]);
  const broker = memoryBroker();
  const bus = await memoryBus(broker);
  const wrapped = namespacedBus(namespacedBus(bus, "a"), "b");
  broker.stop();
  broker.start();
  // Closing the wrapper leaves the wrapped bus open.
  await wrapped.close();
  expect(heard.of("hivepace:bus")).toEqual([
    { bus: "memory", state: "interrupted", before: "ready" },
    { bus: "memory", state: "ready", before: "interrupted" },
  ]);
  await bus.close();
  await bus.close();
  expect(heard.of("hivepace:bus").slice(2)).toEqual([{ bus: "memory", state: "closed", before: "ready" }]);
});
