import { busSuite } from "@hivepace/bus/testing";
import { describeOwnServer, killAndStart } from "@hivepace/servers/vitest";
import { describe, test, vi } from "vitest";
import { natsBus } from "../src/index.ts";

// Simulates an installation with `nats` 2 only.
vi.mock("@nats-io/transport-node", () => import("nats"));

describeOwnServer("nats", (server) => {
  const restart = killAndStart(server);
  describe("own, nats 2", () => busSuite({ test, open: () => natsBus({ servers: server().url }), restart }));
});
