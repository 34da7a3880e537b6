import { syncStoreSuite } from "@hivepace/core/testing";
import { clientVersions, Opened } from "@hivepace/redis-client/testing";
import { describeOwnServer, killAndStart } from "@hivepace/servers/vitest";
import { afterAll, describe, test } from "vitest";
import { redisSync } from "../src/index.ts";

describeOwnServer("redis", (server) => {
  const lent = new Opened();
  afterAll(lent.close);
  const restart = killAndStart(server);

  describe.each(["ioredis", "redis"] as const)("with options, through %s", (client) =>
    syncStoreSuite({ test, open: () => redisSync({ url: server().url, client }), restart }),
  );

  describe.each(clientVersions)("with a client of $version", (version) =>
    syncStoreSuite({ test, open: () => redisSync(lent.lend(version.server(server()))), restart }),
  );
});
