import { busSuite } from "@hivepace/bus/testing";
import { describeOwnServer, killAndStart } from "@hivepace/servers/vitest";
import * as transport from "@nats-io/transport-node";
import * as nats from "nats";
import { afterAll, describe, test } from "vitest";
import { type NatsConnectionLike, natsBus } from "../src/index.ts";

describeOwnServer("nats", (server) => {
  const restart = killAndStart(server);
  const lent: NatsConnectionLike[] = [];
  afterAll(() => Promise.all(lent.map((connection) => connection.close())));
  const lend = async (connecting: Promise<NatsConnectionLike>) => {
    const connection = await connecting;
    lent.push(connection);
    return natsBus(connection);
  };
  const options = () => ({ servers: server().url, maxReconnectAttempts: -1, reconnectTimeWait: 200 });

  describe("own", () => busSuite({ test, open: () => natsBus({ servers: server().url }), restart }));
  describe("lent, nats 2", () => busSuite({ test, open: () => lend(nats.connect(options())), restart }));
  describe("lent, nats 3", () => busSuite({ test, open: () => lend(transport.connect(options())), restart }));
});
