import { busSuite } from "@hivepace/bus/testing";
import { describeOwnServer, killAndStart } from "@hivepace/servers/vitest";
import { afterAll, describe, test } from "vitest";
import { redisPubSubBus } from "../src/index.ts";
import { Opened, versions } from "./helpers.ts";

describeOwnServer("redis", (server) => {
  const lent = new Opened();
  afterAll(lent.close);
  const restart = killAndStart(server);

  describe("with options", () => busSuite({ test, open: () => redisPubSubBus({ url: server().url }), restart }));

  describe.each(versions)("with a client of $version", ({ Redis }) =>
    busSuite({ test, open: () => redisPubSubBus(lent.client(new Redis(server().url, {}))), restart }),
  );
});
