import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { BusEvent } from "@hivepace/core";
import { memorySyncStore } from "@hivepace/core/testing";
import { until } from "@hivepace/test-kit";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  announceCapacity,
  type BusSource,
  channelNames,
  createDistributedLimiter,
  createHive,
  memoryBus,
  observeSwarm,
  openBus,
  openStore,
} from "../index.ts";

const forHive = { namespace: "connect", endpoints: [{ id: "eu", rpmLimit: 100 }] };
const forLimiter = { namespace: "connect", agentId: "agent" };

/** Names of the buses that were closed during a test. */
let closed: string[] = [];
const note = (event: unknown): void => {
  const { bus, state } = event as BusEvent;
  if (state === "closed") closed.push(bus);
};
beforeEach(() => {
  closed = [];
  subscribe(channelNames.bus, note);
});
afterEach(() => unsubscribe(channelNames.bus, note));

test("hives, limiters and observers at one address are one swarm, and close their buses", async () => {
  const bus = "memory:one swarm";
  const observer = await observeSwarm({ bus, namespace: "connect" });
  const hive = await createHive({ ...forHive, bus, agentId: "hive" });
  const limiter = await createDistributedLimiter({ ...forLimiter, bus, agentId: "limiter" });
  await until(
    () => observer.snapshot().agents.length === 2 && hive.status().members === 2,
    "the agents have heard each other",
  );
  await limiter.close();
  await limiter.close();
  await hive.close();
  expect(closed).toEqual(["memory", "memory"]);
  await observer.close();
  expect(closed).toHaveLength(3);
});

describe.each<[string, (bus: BusSource) => Promise<AsyncDisposable>]>([
  ["a hive", (bus) => createHive({ ...forHive, bus })],
  ["a limiter", (bus) => createDistributedLimiter({ ...forLimiter, bus })],
  ["an observer", (bus) => observeSwarm({ bus, namespace: "connect" })],
])("%s", (_, create) => {
  test("leaves a lent bus open", async () => {
    const bus = await openBus("memory:lent");
    await (await create(bus))[Symbol.asyncDispose]();
    expect(bus.state).toBe("ready");
    await bus.close();
  });

  test("closes a bus passed as a promise", async () => {
    const bus = memoryBus();
    await (await create(bus))[Symbol.asyncDispose]();
    expect((await bus).state).toBe("closed");
  });

  test.each(["", "localhost:4222", "http://localhost", "nats://"])(
    "rejects the address %j with an error that names the option",
    async (bus) => {
      await expect(create(bus)).rejects.toMatchObject({ code: "INVALID_CONFIG", option: "bus" });
      expect(closed).toEqual([]);
    },
  );
});

test("a store lent to a limiter stays open, and a store passed as a promise is closed with it", async () => {
  const [lent, given] = [memorySyncStore(), memorySyncStore()];
  const closings: string[] = [];
  lent.close = async () => void closings.push("lent");
  given.close = async () => void closings.push("given");
  for (const sync of [lent, Promise.resolve(given)])
    await (await createDistributedLimiter({ ...forLimiter, bus: "memory:stores", sync })).close();
  expect(closings).toEqual(["given"]);
});

test.each(["redis", "http://localhost", "redis://", "nats://localhost"])(
  "%j is not the address of a store",
  async (sync) => {
    const wrong = { code: "INVALID_CONFIG", option: "sync", value: sync };
    await expect(createHive({ ...forHive, sync })).rejects.toMatchObject(wrong);
    await expect(openStore(sync)).rejects.toMatchObject(wrong);
  },
);

test("no error contains a password", async () => {
  const sync = "http://me:secret@localhost";
  await expect(createHive({ ...forHive, sync })).rejects.toThrow(/^(?!.*secret).*http:\/\/…@localhost/);
});

test("opened buses are closed when another option is invalid", async () => {
  await expect(createHive({ ...forHive, bus: "memory:wrong", windowMs: -1 })).rejects.toMatchObject({
    code: "INVALID_WINDOW",
  });
  await expect(createDistributedLimiter({ ...forLimiter, bus: "memory:wrong", agentId: "" })).rejects.toMatchObject({
    code: "INVALID_CONFIG",
  });
  expect(closed).toEqual(["memory", "memory"]);
});

test("a bus that is undefined, as of an unset variable, is rejected; without the option a hive is alone", async () => {
  const wrong = createHive({ ...forHive, bus: process.env["NOT_SET_ANYWHERE"] as string });
  await expect(wrong).rejects.toMatchObject({ code: "INVALID_CONFIG", option: "bus" });
  const hive = await createHive(forHive);
  expect(hive.status().bus).toBe("none");
  await hive.close();
});

test.each(["redis://127.0.0.1:1", "nats://127.0.0.1:1", "kafka://127.0.0.1:1"])(
  "a bus opened at %s, where nothing listens, tells why it is away",
  async (address) => {
    const bus = await openBus(address);
    await until(() => /refused/i.test(bus.awayReason ?? ""), "the reason is known");
    await expect(bus.publish("s", new Uint8Array(1))).rejects.toThrow(/its state is connecting \(.*refused/i);
    await bus.close();
  },
);

test("missing options are rejected", async () => {
  for (const create of [createHive, createDistributedLimiter, observeSwarm])
    await expect(create(undefined as never)).rejects.toMatchObject({ code: "INVALID_CONFIG", option: "options" });
});

test("an announcement by address reaches the agents, and its bus is closed", async () => {
  const bus = "memory:announced";
  const limiter = await createDistributedLimiter({ ...forLimiter, bus });
  limiter.setCapacity("api", 100, 60_000);
  const update = { resource: "api", agentId: "operator", newCapacity: 10, reason: "by hand", timestamp: new Date() };
  await announceCapacity(update, { bus, namespace: "connect" });
  await until(() => limiter.getCapacity("api")?.total === 10, "the limiter has heard of it");
  expect(closed).toEqual(["memory"]);
  await limiter.close();
});
