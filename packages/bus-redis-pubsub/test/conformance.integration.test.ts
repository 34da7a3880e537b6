import { busSuite } from "@hivepace/bus/testing";
import { clientVersions, Opened } from "@hivepace/redis-client/testing";
import { describeOwnServer, killAndStart } from "@hivepace/servers/vitest";
import { afterAll, describe, test } from "vitest";
import { redisPubSubBus } from "../src/index.ts";

describeOwnServer("redis", (server) => {
  const lent = new Opened();
  afterAll(lent.close);
  const restart = killAndStart(server);

  describe.each(["ioredis", "redis"] as const)("with options, through %s", (client) =>
    busSuite({ test, open: () => redisPubSubBus({ url: server().url, client }), restart }),
  );

  describe.each(clientVersions)("with a client of $version", (version) =>
    busSuite({ test, open: () => redisPubSubBus(lent.lend(version.server(server()))), restart }),
  );
});
