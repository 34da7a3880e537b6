import { connect, type NatsConnection } from "nats";
import { expect, test } from "vitest";
import { describeOwnServer, describeServer } from "../src/vitest.ts";

async function roundTrip(connection: NatsConnection): Promise<string> {
  const subject = `hivepace-test.${process.pid}.${Date.now()}`;
  const subscription = connection.subscribe(subject, { max: 1 });
  await connection.flush();
  connection.publish(subject, "hello");
  for await (const message of subscription) return message.string();
  throw new Error("the subscription ended");
}

/** Resolves at the next reconnect. The iterator must exist before the reconnect, which would be missed otherwise. */
async function nextReconnect(connection: NatsConnection): Promise<void> {
  for await (const { type } of connection.status()) if (type === "reconnect") return;
}

describeServer("nats", (server) => {
  test("a published message arrives", async () => {
    const connection = await connect({ servers: server().url });
    expect(await roundTrip(connection)).toBe("hello");
    await connection.close();
  });
});

describeOwnServer("nats", (server) => {
  test("a killed server comes back on its port, and a client reconnects", async () => {
    const connection = await connect({ servers: server().url, reconnectTimeWait: 50, maxReconnectAttempts: -1 });
    const reconnected = nextReconnect(connection);
    await server().kill();
    await server().start();
    await reconnected;
    expect(await roundTrip(connection)).toBe("hello");
    await connection.close();
  });
});

describeOwnServer(
  "nats",
  (server) => {
    test("the configuration takes effect", async () => {
      const options = { servers: server().url, maxReconnectAttempts: 0 };
      await expect(connect(options)).rejects.toThrow(/Authorization/);
      const connection = await connect({ ...options, token: "secret" });
      expect(await roundTrip(connection)).toBe("hello");
      await connection.close();
    });
  },
  { config: "authorization { token: secret }" },
);
