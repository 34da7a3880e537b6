import { syncStoreSuite } from "@hivepace/core/testing";
import { describeOwnServer, killAndStart } from "@hivepace/servers/vitest";
import { test, vi } from "vitest";
import { redisSync } from "../src/index.ts";

// Simulates an installation with ioredis 5: the options form opens its connection with that version.
vi.mock("ioredis", () => import("ioredis-5"));

describeOwnServer("redis", (server) => {
  const restart = killAndStart(server);
  syncStoreSuite({ test, open: () => redisSync({ host: server().host, port: server().port }), restart });
});
