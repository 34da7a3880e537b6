import { describe, test } from "vitest";
import { memoryBroker } from "./memory-broker.ts";
import { memoryBus } from "./memory-bus.ts";
import { namespacedBus } from "./namespaced-bus.ts";
import { busSuite } from "./testing/bus-suite.ts";
import { threadBroker } from "./thread-broker.ts";

const broker = memoryBroker();
const restart = async (whileAway?: () => Promise<void>) => {
  broker.stop();
  await whileAway?.();
  broker.start();
};

describe("memory bus", () => busSuite({ test, open: () => memoryBus(broker), restart }));

describe("memory bus between threads", () => busSuite({ test, open: () => memoryBus(threadBroker("suite")) }));

describe("namespaced memory bus", () =>
  busSuite({ test, open: async () => namespacedBus(await memoryBus(broker), "a.b%*"), restart }));
