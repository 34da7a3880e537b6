import { busSuite } from "@hivepace/bus/testing";
import { describeOwnServer } from "@hivepace/servers/vitest";
import { test } from "vitest";
import { kafkaBus } from "../src/index.ts";

describeOwnServer("kafka", (server) => {
  busSuite({
    test,
    open: () => kafkaBus({ brokers: [server().url] }),
    restart: async (whileAway) => {
      await server().kill();
      await whileAway?.();
      await server().start();
    },
  });
});
