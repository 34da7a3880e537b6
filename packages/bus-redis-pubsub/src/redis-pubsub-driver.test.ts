import { EventEmitter } from "node:events";
import { expect, test } from "vitest";
import { type RedisClient, redisPubSubBus } from "./index.ts";

/** The part of an ioredis client that a bus uses, on a Redis that accepts every command. */
class Client extends EventEmitter implements RedisClient {
  status = "ready";
  readonly options = {};
  readonly pipeline = (): unknown => undefined;
  readonly published: string[] = [];
  readonly duplicates: Client[] = [];
  readonly connect = async (): Promise<void> => {};
  readonly ping = async (): Promise<string> => "PONG";
  readonly subscribe = async (): Promise<number> => 1;
  readonly unsubscribe = async (): Promise<number> => 0;

  async publish(channel: string): Promise<number> {
    this.published.push(channel);
    return 0;
  }

  duplicate(): Client {
    const duplicate = new Client();
    this.duplicates.push(duplicate);
    return duplicate;
  }

  disconnect(): void {
    this.status = "end";
    this.emit("end");
  }
}

test("the status of a lent client is checked before each message, so the client never queues one", async () => {
  const client = new Client();
  await using bus = await redisPubSubBus(client);
  await bus.publish("sent", new Uint8Array(1));
  // ioredis changes its status first and emits the event a moment later.
  client.status = "reconnecting";
  expect(bus.state).toBe("ready");
  await expect(bus.publish("kept", new Uint8Array(1))).rejects.toMatchObject({ code: "BUS_UNAVAILABLE" });
  expect(client.published).toEqual(["sent"]);
});

test("subscribe resolves only after the reply of Redis", async () => {
  const client = new Client();
  await using bus = await redisPubSubBus(client);
  let reply = (): void => {};
  const asked = new Promise<void>((resolve) => {
    Object.assign(client.duplicates[0] as Client, {
      subscribe: () => {
        resolve();
        return new Promise<void>((answer) => {
          reply = answer;
        });
      },
    });
  });
  let resolved = false;
  const subscribed = bus
    .subscribe("confirmed", () => {})
    .then(() => {
      resolved = true;
    });
  await asked;
  await new Promise(setImmediate);
  expect(resolved).toBe(false);
  reply();
  await subscribed;
});

test("a lent client that is ready but does not answer counts as unavailable", async () => {
  const client = Object.assign(new Client(), { ping: () => new Promise<never>(() => {}) });
  const opening = redisPubSubBus(client, { connectTimeoutMs: 50 });
  await expect(opening).rejects.toMatchObject({ code: "BUS_UNAVAILABLE" });
  expect(client.eventNames()).toEqual([]);
});

test("an abandoned connection delivers nothing more", async () => {
  const client = new Client();
  await using bus = await redisPubSubBus(client);
  const heard: number[] = [];
  await bus.subscribe("twice", ([byte = -1]) => heard.push(byte));
  const [first] = client.duplicates;
  const deliver = (from: Client | undefined, byte: number) =>
    from?.emit("messageBuffer", Buffer.from("twice"), Buffer.of(byte));
  deliver(first, 1);
  first?.emit("close");
  expect(bus.state).toBe("interrupted");
  deliver(first, 2);
  await new Promise<void>((resolve) => bus.onState(() => resolve()));
  deliver(client.duplicates[1], 3);
  expect(heard).toEqual([1, 3]);
});

test("close removes all listeners from a lent client and ends its duplicate", async () => {
  const client = new Client();
  const bus = await redisPubSubBus(client);
  await bus.close();
  expect([client.eventNames(), client.status]).toEqual([[], "ready"]);
  expect(client.duplicates.map(({ status }) => status)).toEqual(["end"]);
});
