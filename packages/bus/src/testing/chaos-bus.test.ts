import { ManualClock } from "@hivepace/core/testing";
import { describe, expect, test } from "vitest";
import { memoryBroker, memoryBus } from "../index.ts";
import { busSuite } from "./bus-suite.ts";
import { type ChaosOptions, chaosBus } from "./chaos-bus.ts";
import { bytes, text } from "./world.ts";

const broker = memoryBroker();

describe("chaos bus with chaos off", () =>
  busSuite({
    test,
    open: async () => chaosBus(await memoryBus(broker), { seed: 1 }),
    restart: async (whileAway) => {
      broker.stop();
      await whileAway?.();
      broker.start();
    },
  }));

/** Publishes the numbers from 0 to `count - 1`, one each millisecond, and records their arrival. */
async function ordeal(options: Omit<ChaosOptions, "clock">, count = 200) {
  const clock = new ManualClock();
  const shared = memoryBroker();
  const publisher = await memoryBus(shared);
  const bus = chaosBus(await memoryBus(shared), { ...options, clock });
  const arrived: { message: number; at: number }[] = [];
  await bus.subscribe("s", (payload) => arrived.push({ message: Number(text(payload)), at: clock.now() }));
  for (let i = 0; i < count; i++) {
    await publisher.publish("s", bytes(`${i}`));
    await clock.run(1);
  }
  await clock.run(10_000);
  await bus.close();
  return { arrived, messages: arrived.map(({ message }) => message), pending: clock.pending };
}

test("equal seeds produce equal faults, and different seeds different faults", async () => {
  const trouble = { drop: 0.2, duplicate: 0.2, delay: [0, 50] as const, reorder: 0.2 };
  const first = await ordeal({ seed: 5, ...trouble });
  expect(await ordeal({ seed: 5, ...trouble })).toEqual(first);
  expect((await ordeal({ seed: 6, ...trouble })).arrived).not.toEqual(first.arrived);
});

test("drop loses about the configured share and changes nothing else", async () => {
  const { messages } = await ordeal({ seed: 1, drop: 0.25 });
  expect(messages.length).toBeGreaterThan(120);
  expect(messages.length).toBeLessThan(180);
  expect(messages).toEqual([...new Set(messages)].sort((a, b) => a - b));
});

test("duplicate repeats about the configured share and loses nothing", async () => {
  const { messages } = await ordeal({ seed: 1, duplicate: 0.25 });
  expect(new Set(messages).size).toBe(200);
  expect(messages.length).toBeGreaterThan(220);
  expect(messages.length).toBeLessThan(280);
});

test("delay keeps the order and stays within its bounds", async () => {
  const { arrived, messages } = await ordeal({ seed: 1, delay: [20, 40] });
  expect(messages).toEqual(Array.from({ length: 200 }, (_, i) => i));
  for (const { message, at } of arrived) {
    expect(at - message).toBeGreaterThanOrEqual(20);
    expect(at - message).toBeLessThanOrEqual(40);
  }
});

test("reorder changes the order and neither loses nor repeats messages", async () => {
  const { messages } = await ordeal({ seed: 1, reorder: 0.3 });
  expect(messages).not.toEqual([...messages].sort((a, b) => a - b));
  expect([...messages].sort((a, b) => a - b)).toEqual(Array.from({ length: 200 }, (_, i) => i));
});

test("a partition silently blocks both directions until it ends", async () => {
  const shared = memoryBroker();
  const [inside, outside] = [chaosBus(await memoryBus(shared), { seed: 1 }), await memoryBus(shared)];
  const heard: string[] = [];
  await inside.subscribe("s", (payload) => heard.push(`inside: ${text(payload)}`));
  await outside.subscribe("s", (payload) => heard.push(`outside: ${text(payload)}`));
  inside.chaos.partition = true;
  await inside.publish("s", bytes("from inside"));
  await outside.publish("s", bytes("from outside"));
  await Promise.resolve();
  expect([heard, inside.state]).toEqual([["outside: from outside"], "ready"]);
  inside.chaos.partition = false;
  await inside.publish("s", bytes("again"));
  await Promise.resolve();
  expect(heard.slice(1).sort()).toEqual(["inside: again", "outside: again"]);
});

test("closing a chaos bus cancels its timers and leaves the bus below open", async () => {
  const clock = new ManualClock();
  const below = await memoryBus();
  const bus = chaosBus(below, { seed: 1, delay: [100, 100], clock });
  await bus.subscribe("s", () => {});
  await bus.publish("s", bytes("x"));
  await clock.run(1);
  expect(clock.pending).toBe(1);
  await bus.close();
  expect([clock.pending, below.state]).toEqual([0, "ready"]);
});

test.each([
  [{ seed: 1.5 }, "seed"],
  [{ seed: 1, drop: 2 }, "drop"],
  [{ seed: 1, duplicate: -1 }, "duplicate"],
  [{ seed: 1, reorder: Number.NaN }, "reorder"],
  [{ seed: 1, delay: [5, 1] as const }, "delay"],
])("an invalid fault is rejected (case %#)", async (options, option) => {
  const bus = await memoryBus();
  expect(() => chaosBus(bus, options)).toThrowError(expect.objectContaining({ code: "INVALID_CONFIG", option }));
});
