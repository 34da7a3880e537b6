import { Worker } from "node:worker_threads";
import type { BusState } from "@hivepace/bus";
import { describeOwnServer } from "@hivepace/servers/vitest";
import { bytes, listen, until } from "@hivepace/test-kit";
import * as transport from "@nats-io/transport-node";
import * as nats from "nats";
import { describe, expect, test, vi } from "vitest";
import { type NatsConnectionLike, natsBus, natsSupports } from "../src/index.ts";
import { opened, warnings } from "./support/help.ts";

type Connect = (options: {
  servers: string;
  noEcho?: boolean;
  [option: string]: unknown;
}) => Promise<NatsConnectionLike>;

const clients: [string, Connect][] = [
  ["nats 2", nats.connect as Connect],
  ["transport-node 3", transport.connect as Connect],
];

/** Counts subscriptions and status listeners of a connection, which both clients keep in private fields. */
function load(connection: NatsConnectionLike): { subscriptions: number; listeners: number } {
  type Inside = { listeners?: unknown[]; protocol: { listeners: unknown[]; subscriptions: { size(): number } } };
  const { listeners, protocol } = connection as unknown as Inside;
  return { subscriptions: protocol.subscriptions.size(), listeners: (listeners ?? protocol.listeners).length };
}

describeOwnServer("nats", (server) => {
  const own = (options = {}) => opened(natsBus({ servers: server().url, ...options }));

  test("without a server natsBus rejects with BUS_UNAVAILABLE and the error of the client", async () => {
    await server().kill();
    const failure = natsBus({ servers: server().url });
    await expect(failure).rejects.toMatchObject({ code: "BUS_UNAVAILABLE", cause: expect.any(Error) });
    await server().start();
  });

  test("with waitForBroker the bus is connecting until the server starts, and earlier subscriptions then receive messages", async () => {
    await server().kill();
    const bus = await own({ waitForBroker: true });
    expect([bus.state, bus.supports]).toEqual(["connecting", natsSupports]);
    await expect(bus.publish("early", bytes("x"))).rejects.toMatchObject({ code: "BUS_UNAVAILABLE" });
    const states: BusState[] = [];
    bus.onState((state) => states.push(state));
    const listening = listen(bus, "early");
    await server().start();
    const heard = await listening;
    expect([bus.state, states]).toEqual(["ready", ["ready"]]);
    await bus.publish("early", bytes("hello"));
    await until(() => heard.length === 1, "the message arrives");
  });

  test("with waitForBroker and a running server the bus becomes ready", async () => {
    const bus = await own({ waitForBroker: true });
    await until(() => bus.state === "ready", "the bus is ready");
  });

  test("a server that never answers is unreachable: natsBus rejects in time, or waits", async () => {
    await server().pause();
    const failure = natsBus({ servers: server().url, connectTimeoutMs: 200 });
    await expect(failure).rejects.toMatchObject({ code: "BUS_UNAVAILABLE" });
    const bus = await own({ waitForBroker: true, connectTimeoutMs: 200 });
    expect(bus.state).toBe("connecting");
    await server().resume();
    await until(() => bus.state === "ready", "the bus is ready");
  });

  test("during an outage under traffic no message is queued, every publish settles, and traffic resumes", async () => {
    const [publisher, subscriber] = [await own(), await own()];
    const heard = await listen(subscriber, "traffic");
    const sent = { confirmed: [] as string[], away: [] as string[] };
    const failures = new Set<unknown>();
    let going = true;
    const traffic = (async () => {
      for (let i = 0; going; i++) {
        const away = publisher.state === "interrupted";
        const published = publisher.publish("traffic", bytes(`${i}`));
        await published.then(
          () => sent.confirmed.push(`${i}`),
          (error) => {
            failures.add((error as { code?: unknown }).code);
            if (away) sent.away.push(`${i}`);
          },
        );
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
    })();
    await until(() => heard.length > 50, "traffic flows");
    await server().kill();
    await until(() => sent.away.length > 500, "traffic goes on while the server is away");
    await server().start();
    const before = heard.length;
    await until(() => heard.length > before + 50, "traffic flows again");
    going = false;
    await traffic;
    await until(() => heard.includes(sent.confirmed.at(-1) ?? ""), "the last one arrives");
    expect([...failures]).toEqual(["BUS_UNAVAILABLE"]);
    expect(heard.filter((message) => sent.away.includes(message))).toEqual([]);
    expect(heard).toEqual([...new Set(heard)].sort((a, b) => +a - +b));
  });

  test("with a frozen server publish rejects in bounded time and close ends; traffic resumes after the freeze", async () => {
    const [bus, closing] = [await own({ publishTimeoutMs: 200 }), await own()];
    const heard = await listen(bus, "still");
    await server().pause();
    await expect(bus.publish("still", bytes("x"))).rejects.toMatchObject({ code: "BUS_UNAVAILABLE" });
    await closing.close();
    await server().resume();
    await until(() => bus.state === "ready", "the bus is ready");
    await vi.waitFor(() => bus.publish("still", bytes("y")), { timeout: 300_000 });
    await until(() => heard.includes("y"), "messages flow again");
  });

  describe.each(clients)("a lent connection: %s", (_, connect) => {
    const lend = (options = {}) => opened(connect({ servers: server().url, ...options }));

    test("the connection stays open, without listeners or subscriptions of the bus", async () => {
      const connection = await lend();
      const before = load(connection);
      const bus = await natsBus(connection);
      await Promise.all([listen(bus, "a"), listen(bus, "b"), bus.publish("a", bytes("x"))]);
      expect(load(connection)).not.toEqual(before);
      await bus.close();
      await until(() => load(connection).listeners === before.listeners, "the listener is gone");
      expect([connection.isClosed(), load(connection)]).toEqual([false, before]);
      await connection.flush();
    });

    test("publishes of one tick share one round trip and arrive in order", async () => {
      const connection = await lend();
      const bus = await natsBus(connection);
      const heard = await listen(bus, "batch");
      const flush = vi.spyOn(connection, "flush");
      await Promise.all(Array.from({ length: 100 }, (_, i) => bus.publish("batch", bytes(`${i}`))));
      expect(flush).toHaveBeenCalledTimes(1);
      await until(() => heard.length === 100, "all arrive");
      expect(heard).toEqual(Array.from({ length: 100 }, (_, i) => `${i}`));
    });

    test("an ordinary subject has the same name in NATS; an awkward one is percent-encoded", async () => {
      const [connection, other] = [await lend(), await lend()];
      const bus = await natsBus(connection);
      const seen: string[] = [];
      for (const name of ["ratelimit.capacity", "%24SYS.a%20b"])
        other.subscribe(name, {
          callback: (_error, { data }) => seen.push(`${name} ${new TextDecoder().decode(data)}`),
        });
      await other.flush();
      await bus.publish("ratelimit.capacity", bytes("1"));
      await bus.publish("$SYS.a b", bytes("2"));
      await until(() => seen.length === 2, "both arrive");
      expect(seen).toEqual(["ratelimit.capacity 1", "%24SYS.a%20b 2"]);
      const heard = await listen(bus, "ratelimit.capacity");
      other.publish("ratelimit.capacity", bytes("3"));
      await until(() => heard.length === 1, "the bus hears too");
    });

    test("a connection with noEcho is rejected", async () => {
      const connection = await lend({ noEcho: true });
      await expect(natsBus(connection)).rejects.toMatchObject({ code: "INVALID_CONFIG", option: "noEcho" });
      expect(connection.isClosed()).toBe(false);
    });

    test("a closed connection is rejected with BUS_UNAVAILABLE, and closing the connection later closes the bus", async () => {
      const connection = await lend();
      const seen = warnings();
      const bus = await natsBus(connection);
      await connection.close();
      await until(() => bus.state === "closed", "the bus is closed");
      await expect(bus.publish("a", bytes("x"))).rejects.toMatchObject({ code: "BUS_CLOSED" });
      await expect(natsBus(connection)).rejects.toMatchObject({ code: "BUS_UNAVAILABLE" });
      expect(seen).toEqual([]);
    });

    test("a connection that gives up reconnecting closes the bus with a warning", async () => {
      const connection = await lend({ maxReconnectAttempts: 2, reconnectTimeWait: 20, reconnectJitter: 1 });
      const seen = warnings();
      const bus = await natsBus(connection);
      const states: BusState[] = [];
      bus.onState((state) => states.push(state));
      await server().kill();
      await until(() => bus.state === "closed", "the bus is closed");
      await server().start();
      expect(states).toEqual(["interrupted", "closed"]);
      await until(() => seen.length > 0, "a warning is emitted");
      expect(seen).toEqual([expect.stringMatching(/^HIVEPACE_BUS_LOST: /)]);
    });

    test("with a disconnected connection natsBus rejects in time, or waits", async () => {
      const connection = await lend({ maxReconnectAttempts: -1, reconnectTimeWait: 20 });
      await server().kill();
      await expect(natsBus(connection, { connectTimeoutMs: 100 })).rejects.toMatchObject({ code: "BUS_UNAVAILABLE" });
      const bus = await natsBus(connection, { waitForBroker: true });
      expect(bus.state).toBe("connecting");
      const listening = listen(bus, "late");
      await server().start();
      const heard = await listening;
      await bus.publish("late", bytes("x"));
      await until(() => heard.length === 1, "the message arrives");
    });
  });
});

describeOwnServer(
  "nats",
  (server) => {
    test("the largest payload is the limit of the server", async () => {
      const bus = await opened(natsBus({ servers: server().url }));
      expect(bus.supports).toEqual({ ...natsSupports, maxPayloadBytes: 1_000 });
      await bus.publish("a", new Uint8Array(1_000));
      const large = bus.publish("a", new Uint8Array(1_001));
      await expect(large).rejects.toMatchObject({ code: "BUS_PAYLOAD_TOO_LARGE", maxBytes: 1_000 });
    });
  },
  { config: "max_payload: 1000" },
);

describeOwnServer(
  "nats",
  (server) => {
    test("a slow consumer is reported, also when the server drops the connection, and the bus recovers", async () => {
      const seen = warnings();
      const bus = await opened(natsBus({ servers: server().url }));
      const states: BusState[] = [];
      bus.onState((state) => states.push(state));
      let messages = 0;
      await bus.subscribe("flood", () => {
        if (++messages <= 3) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_100);
      });
      const workerData = { url: server().url, subject: "flood" };
      const flood = new Worker(new URL("./support/flood.mjs", import.meta.url), { workerData });
      await new Promise((resolve, reject) => flood.once("exit", resolve).once("error", reject));
      await until(
        () => states.includes("interrupted") && bus.state === "ready",
        "the connection was dropped and restored",
      );
      await until(() => seen.length >= 2, "both are reported");
      expect(seen).toEqual([
        expect.stringMatching(/^HIVEPACE_BUS_SLOW_CONSUMER: .*handlers took \d+ ms/),
        expect.stringMatching(/^HIVEPACE_BUS_SLOW_CONSUMER: .*the connection broke/),
      ]);
      expect(messages).toBeLessThan(64);
    });
  },
  { config: `max_pending: 2097152\nwrite_deadline: "10s"` },
);
