import { type MessageBus, memoryBus } from "@hivepace/bus";
import type { SyncStore } from "@hivepace/core";
import { memorySyncStore, SyncMemory } from "@hivepace/core/testing";
import { describe, expect, test } from "vitest";
import { createHive } from "../../src/index.ts";
import { eachTest } from "../support/each-test.ts";
import { watch } from "../support/hives.ts";

const world = eachTest();

const EU = { id: "eu", rpmLimit: 10, tpmLimit: 1_000 };

describe("closing", () => {
  test("rejects all waiters, and refuses later requests", async () => {
    const hive = await world.hives.alone({ endpoints: [{ id: "eu", rpmLimit: 1 }] });
    await hive.acquire({ endpoint: "eu" });
    const waiting = watch(hive.acquire({ endpoint: "eu" }));
    await world.hives.clock.run(1);
    await hive.close();
    expect(waiting.error).toMatchObject({ code: "LIMITER_CLOSED" });
    await expect(hive.acquire({ endpoint: "eu" })).rejects.toMatchObject({ code: "LIMITER_CLOSED" });
    expect(() => hive.tryAcquire({ endpoint: "eu" })).toThrow(expect.objectContaining({ code: "LIMITER_CLOSED" }));
    await hive.close();
    expect(hive.status().mode).toBe("closed");
  });

  test("closes a bus and a store that came as promises, and leaves those open that were lent", async () => {
    const open = () => memoryBus(world.hives.broker, { clock: world.hives.clock });
    const lent = await open();
    const own = open();
    const store = memorySyncStore({ memory: new SyncMemory(world.hives.clock) });
    const first = await world.hives.alone({ endpoints: [EU], bus: lent, namespace: "test" });
    const second = await world.hives.alone({
      endpoints: [EU],
      bus: own,
      sync: Promise.resolve(store),
      namespace: "test",
    });
    for (const hive of [first, second]) await hive.close();
    expect([lent.state, (await own).state]).toEqual(["ready", "closed"]);
    const report = { namespace: "n", agentId: "a", incarnation: "i", sequence: 1, windowMs: 1_000, window: undefined };
    await expect(store.sync({ ...report, counts: [], watched: [] })).rejects.toMatchObject({ code: "SYNC_CLOSED" });
    await lent.close();
    const late = open();
    await expect(createHive({ endpoints: [{ id: "" }], bus: late })).rejects.toMatchObject({ code: "INVALID_CONFIG" });
    expect((await late).state).toBe("closed");
  });

  test("lets calls under way end, within a bounded time", async () => {
    const slow = await world.hives.alone({ endpoints: [EU] });
    await slow.acquire({ endpoint: "eu", tokens: 1 });
    let isClosed = false;
    void slow.close({ drainMs: 5_000 }).then(() => {
      isClosed = true;
    });
    await world.hives.clock.run(4_000);
    expect(isClosed).toBe(false);
    await world.hives.clock.run(1_001);
    expect(isClosed).toBe(true);
    const quick = await world.hives.alone({ endpoints: [EU] });
    const lease = await quick.acquire({ endpoint: "eu", tokens: 1 });
    const closing = quick.close({ drainMs: 5_000 });
    lease.done();
    await closing;
  });
});

describe("a promised bus or store", () => {
  /** Opens a bus and a store that append their names to `closed` when they are closed. */
  const opened = async (closed: string[], bus = "bus", store = "store") => {
    const real = { bus: await memoryBus(world.hives.broker, { clock: world.hives.clock }), store: memorySyncStore() };
    const noting = <T extends MessageBus | SyncStore>(it: T, name: string): T =>
      new Proxy(it, {
        get(target, property) {
          const value: unknown = Reflect.get(target, property);
          if (typeof value !== "function") return value;
          return (...args: unknown[]) => {
            if (property === Symbol.asyncDispose) closed.push(name);
            return value.apply(target, args);
          };
        },
      });
    return { bus: noting(real.bus, bus), store: noting(real.store, store) };
  };

  test("is closed with the hive, after the goodbye: first the store, then the bus; lent ones stay open", async () => {
    const other = await world.hives.join({ endpoints: [EU] });
    const order: string[] = [];
    const { bus, store } = await opened(order);
    const options = { endpoints: [EU], namespace: "test", clock: world.hives.clock, agentId: "leaver" };
    const hive = await createHive({ ...options, bus: Promise.resolve(bus), sync: Promise.resolve(store) });
    await world.hives.clock.run(3_000);
    expect(other.status().members).toBe(2);
    await hive.close();
    await world.hives.clock.run(100);
    expect(order).toEqual(["store", "bus"]);
    expect(other.status().members).toBe(1);

    const lent = await opened(order, "lent bus", "lent store");
    const borrower = await createHive({ ...options, bus: lent.bus, sync: lent.store });
    await borrower.close();
    expect(order).toEqual(["store", "bus"]);
    expect(lent.bus.state).toBe("ready");
    await lent.bus.close();
  });

  test("is closed when the other one fails, and no rejection is unhandled", async () => {
    const unhandled: unknown[] = [];
    const note = (reason: unknown) => unhandled.push(reason);
    process.on("unhandledRejection", note);
    const order: string[] = [];
    const { bus, store } = await opened(order);
    const endpoints = [EU];
    const refused = (what: string) => Promise.reject(new Error(what));
    const late = async <T>(it: T): Promise<T> => {
      await new Promise(setImmediate);
      return it;
    };
    await expect(createHive({ endpoints, bus: refused("no bus"), sync: late(store) })).rejects.toThrow("no bus");
    expect(order).toEqual(["store"]);
    await expect(createHive({ endpoints, bus: late(bus), sync: refused("no store") })).rejects.toThrow("no store");
    expect(order).toEqual(["store", "bus"]);
    await expect(createHive({ endpoints, bus: refused("no bus"), sync: refused("either") })).rejects.toThrow("no bus");
    await new Promise(setImmediate);
    process.off("unhandledRejection", note);
    expect(unhandled).toEqual([]);
  });

  test("is closed when an option is invalid, and nothing has begun", async () => {
    for (const wrong of [
      { endpoints: 7 },
      { strategy: "best" },
      { endpoints: [{ id: "x".repeat(300), rpmLimit: 1 }] },
    ]) {
      const order: string[] = [];
      const { bus, store } = await opened(order);
      const options = {
        endpoints: [EU],
        clock: world.hives.clock,
        bus: Promise.resolve(bus),
        sync: Promise.resolve(store),
      };
      await expect(createHive({ ...options, ...wrong } as never)).rejects.toMatchObject({ code: "INVALID_CONFIG" });
      expect(order).toEqual(["store", "bus"]);
      expect(world.hives.clock.pending).toBe(0);
    }
  });
});
