import type { EventEmitter } from "node:events";
import { busSuite } from "@hivepace/bus/testing";
import { clientVersions, ioredisVersions, Opened } from "@hivepace/redis-client/testing";
import { claimPort, type OwnServer, startOwnServer } from "@hivepace/servers";
import { killAndStart, whyNot } from "@hivepace/servers/vitest";
import { bytes, listen, until, warnings } from "@hivepace/test-kit";
import { Redis } from "ioredis";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { redisPubSubBus } from "../src/index.ts";
import { endsByItself } from "./helpers.ts";

const args = (port: number) => [
  ...["--cluster-enabled", "yes", "--cluster-announce-ip", "127.0.0.1"],
  ...["--cluster-port", `${port}`, "--cluster-node-timeout", "2000"],
];

async function ask(server: OwnServer, ...command: [string, ...(string | number)[]]): Promise<string> {
  const client = new Redis(server.url);
  try {
    return String(await client.call(...command));
  } finally {
    client.disconnect();
  }
}

const isUp = async (server: OwnServer) => /cluster_state:ok/.test(await ask(server, "CLUSTER", "INFO"));

// Skipped only where the tests cannot start a Redis server: the tests create, kill and reset a Cluster. The run prints
// the reason.
describe.skipIf(whyNot("redis", { own: true }) !== undefined)("with a Redis Cluster of one node", () => {
  let server: OwnServer;
  const lent = new Opened();
  beforeAll(async () => {
    server = await startOwnServer("redis", { args: args(await claimPort()) });
    await ask(server, "CLUSTER", "ADDSLOTSRANGE", 0, 16383);
    await until(() => isUp(server), "the cluster is up");
  });
  afterAll(async () => {
    await lent.close();
    await server?.stop();
  });
  const restart = killAndStart(() => server);
  const nodes = () => [{ host: server.host, port: server.port }];

  test.each(["ioredis", "redis"])("a process that opened and closed a bus exits by itself, through %s", (client) =>
    endsByItself("cluster", server.host, server.port, client),
  );

  test.each([false, true])("refused credentials reject at once (waitForBroker: %s)", async (waitForBroker) => {
    const settings = { waitForBroker, connectTimeoutMs: 60_000 };
    const refused = { code: "BUS_UNAVAILABLE", message: expect.stringContaining("refused the credentials") };
    const nobody = { username: "nobody", password: "wrong" };
    await expect(redisPubSubBus({ cluster: { nodes: nodes() }, ...nobody, ...settings })).rejects.toMatchObject(
      refused,
    );
    for (const { Cluster } of ioredisVersions) {
      const client = lent.client(new Cluster(nodes(), { redisOptions: nobody }));
      await expect(redisPubSubBus(client, settings)).rejects.toMatchObject(refused);
      client.disconnect();
    }
  });

  test.each(ioredisVersions)(
    "a client of $version stays open after close, without listeners of the bus",
    async ({ Cluster }) => {
      const client = lent.client(new Cluster(nodes(), {}));
      await until(() => client.status === "ready", "the bus is ready");
      const count = () => client.eventNames().map((name) => [name, client.listenerCount(name)]);
      const before = count();
      const bus = await redisPubSubBus(client);
      const inUse = client.nodes("master").map((node) => node as unknown as EventEmitter);
      await bus.publish("lent", bytes("x"));
      await bus.close();
      expect(count()).toEqual(before);
      expect(client.status).toBe("ready");
      for (const node of inUse) expect(node.listenerCount("ready") + node.listenerCount("close")).toBe(0);
    },
  );

  test("the rights named in the README suffice, and revoking them closes the bus", async () => {
    const rights = ["+publish", "+subscribe", "+unsubscribe", "+ping", "+info", "+cluster|slots", "+cluster|info"];
    await ask(server, "ACL", "SETUSER", "agent", "reset", "on", ">pass", "resetchannels", "&ratelimit.*", ...rights);
    const bus = await redisPubSubBus({ cluster: { nodes: nodes() }, username: "agent", password: "pass" });
    lent.add(bus, () => bus.close());
    const heard = await listen(bus, "ratelimit.capacity");
    await bus.publish("ratelimit.capacity", bytes("x"));
    await until(() => heard.length === 1, "the message arrives");
    // After the user is deleted, the bus closes and warns once.
    const codes = await warnings(async () => {
      await ask(server, "ACL", "DELUSER", "agent");
      await until(() => bus.state === "closed", "the bus is closed");
    }, "HIVEPACE_BUS_REFUSED");
    expect(codes).toEqual(["HIVEPACE_BUS_REFUSED"]);
  });

  test.each(ioredisVersions)("a client of $version closes the bus when its owner closes it", async ({ Cluster }) => {
    const client = lent.client(new Cluster(nodes(), {}));
    const bus = await redisPubSubBus(client);
    client.disconnect();
    await until(() => bus.state === "closed", "the bus is closed");
  });

  describe.each(["ioredis", "redis"] as const)("with options, through %s", (client) =>
    busSuite({ test, open: () => redisPubSubBus({ cluster: { nodes: nodes() }, client }), restart }),
  );

  describe.each(clientVersions)("with a client of $version", (version) =>
    busSuite({ test, open: () => redisPubSubBus(lent.lend(version.cluster(nodes()))), restart }),
  );
});

// Skipped for the same reason as above.
describe.skipIf(whyNot("redis", { own: true }) !== undefined)("with a Redis Cluster of two nodes", () => {
  const servers: OwnServer[] = [];
  const opened = new Opened();
  afterEach(opened.close);
  beforeAll(async () => {
    const secondBusPort = await claimPort();
    const first = await startOwnServer("redis", { args: args(await claimPort()) });
    const second = await startOwnServer("redis", { args: args(secondBusPort) });
    servers.push(first, second);
    await ask(first, "CLUSTER", "ADDSLOTSRANGE", 0, 8191);
    await ask(second, "CLUSTER", "ADDSLOTSRANGE", 8192, 16383);
    // Each node needs its own epoch before the nodes meet.
    await ask(first, "CLUSTER", "SET-CONFIG-EPOCH", 1);
    await ask(second, "CLUSTER", "SET-CONFIG-EPOCH", 2);
    await ask(first, "CLUSTER", "MEET", second.host, second.port, secondBusPort);
    await until(async () => (await isUp(first)) && (await isUp(second)), "the cluster is up");
  });
  afterAll(() => Promise.all(servers.map((server) => server.stop())));

  const nodes = () => servers.map(({ host, port }) => ({ host, port }));

  test("messages cross nodes in order of their publisher, each once", async () => {
    const open = (client: "ioredis" | "redis") => opened.open(redisPubSubBus({ cluster: { nodes: nodes() }, client }));
    const clients = ["redis", "redis", "redis", "ioredis", "ioredis", "ioredis"] as const;
    const [publisher, ...subscribers] = await Promise.all(clients.map(open));
    const heard = await Promise.all(subscribers.map((bus) => listen(bus, "crossing")));
    const sent = Array.from({ length: 1_000 }, (_, i) => `${i}`);
    await Promise.all(sent.map((message) => publisher?.publish("crossing", bytes(message))));
    await until(() => heard.every((list) => list.length >= sent.length), "all arrive");
    for (const list of heard) expect(list).toEqual(sent);
  });

  test("a bus leaves a node that left the Cluster, and receives messages published at other nodes", async () => {
    const [stays, leaves] = servers as [OwnServer, OwnServer];
    const cluster = { nodes: nodes(), slotsRefreshInterval: 100 };
    const open = (client: "ioredis" | "redis" = "redis") =>
      opened.open(redisPubSubBus({ cluster, client, pingIntervalMs: 100 }));
    const buses = await Promise.all([open("ioredis"), open(), open("ioredis")]);
    const heard = await Promise.all(buses.map((bus) => listen(bus, "moving")));
    // Each bus picks a random node, so the test adds buses until one listens at the leaving node.
    while (!/moving/.test(await ask(leaves, "PUBSUB", "CHANNELS"))) {
      const bus = await open();
      buses.push(bus);
      heard.push(await listen(bus, "moving"));
    }
    // The process of the node keeps running, outside the Cluster and with all its connections.
    const id = await ask(leaves, "CLUSTER", "MYID");
    await ask(leaves, "CLUSTER", "RESET", "SOFT");
    await ask(stays, "CLUSTER", "FORGET", id);
    await ask(stays, "CLUSTER", "ADDSLOTSRANGE", 8192, 16383);
    await until(async () => !/moving/.test(await ask(leaves, "PUBSUB", "CHANNELS")), "no bus listens at the old node");
    await until(() => buses.every(({ state }) => state === "ready"), "all are ready again");
    await until(async () => {
      await Promise.all(buses.map((bus, i) => bus.publish("moving", bytes(`${i}`)).catch(() => {})));
      return heard.every((list) => new Set(list).size === buses.length);
    }, "all hear all");
  });
});
