import { syncStoreSuite } from "@hivepace/core/testing";
import { describeOwnServer, killAndStart } from "@hivepace/servers/vitest";
import { afterAll, describe, test } from "vitest";
import { redisSync } from "../src/index.ts";
import { Opened, versions } from "./helpers.ts";

describeOwnServer("redis", (server) => {
  const lent = new Opened();
  afterAll(lent.close);
  const restart = killAndStart(server);

  describe("with options", () => syncStoreSuite({ test, open: () => redisSync({ url: server().url }), restart }));

  describe.each(versions)("with a client of $version", ({ Redis }) =>
    syncStoreSuite({ test, open: () => redisSync(lent.client(new Redis(server().url, {}))), restart }),
  );
});
