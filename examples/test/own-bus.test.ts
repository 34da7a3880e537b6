import { busSuite } from "@hivepace/bus/testing";
import { describe, test } from "vitest";
import { EmitterBroker, emitterBus } from "../src/own-bus/emitter-bus.ts";

describe("a bus of one's own", () => {
  const broker = new EmitterBroker();
  busSuite({
    test,
    open: () => emitterBus(broker),
    restart: async (whileAway) => {
      broker.become(false);
      await whileAway?.();
      broker.become(true);
    },
  });
});
