import { busSuite } from "@hivepace/bus/testing";
import { describeOwnServer, killAndStart } from "@hivepace/servers/vitest";
import { test, vi } from "vitest";
import { redisPubSubBus } from "../src/index.ts";

// Simulates an installation with ioredis 5: the options form opens its connections with that version.
vi.mock("ioredis", () => import("ioredis-5"));

describeOwnServer("redis", (server) => {
  const restart = killAndStart(server);
  busSuite({ test, open: () => redisPubSubBus({ host: server().host, port: server().port }), restart });
});
