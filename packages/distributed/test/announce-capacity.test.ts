import { type MessageBus, memoryBus } from "@hivepace/bus";
import { afterEach, beforeEach, expect, test } from "vitest";
import { announceCapacity } from "../src/index.ts";
import { TestHives } from "./support/hives.ts";

const EU = { id: "eu", rpmLimit: 100, tpmLimit: 10_000 };
const SECRET = "a secret that is long enough";

let hives: TestHives;
let bus: MessageBus;
beforeEach(async () => {
  hives = new TestHives();
  bus = await memoryBus(hives.broker, { clock: hives.clock });
});
afterEach(async () => {
  await bus.close();
  await hives.close();
  expect(hives.clock.pending).toBe(0);
});

const update = (newCapacity: number) => ({
  resource: "eu",
  agentId: "operator",
  newCapacity,
  reason: "maintenance",
  timestamp: new Date(Date.UTC(2030, 0, 1) + newCapacity),
});

test("every agent adopts the announced capacity, with its origin and reason", async () => {
  const swarm = await hives.swarm(3, { endpoints: [EU] });
  await announceCapacity(update(40), { bus, namespace: "test" });
  await hives.clock.run(1_000);
  for (const hive of swarm)
    expect(hive.explain("eu")).toMatchObject({ level: 0.4, cause: { agentId: "operator", reason: "maintenance" } });
});

test("a capacity that is no lower, or comes within the cooldown of the last cut, changes nothing", async () => {
  const [hive] = await hives.swarm(2, { endpoints: [EU] });
  await announceCapacity(update(100), { bus, namespace: "test" });
  await hives.clock.run(1_000);
  expect(hive?.explain("eu").level).toBe(1);
  await announceCapacity(update(50), { bus, namespace: "test" });
  await announceCapacity(update(30), { bus, namespace: "test" });
  await hives.clock.run(1_000);
  expect(hive?.explain("eu").level).toBe(0.5);
});

test("agents that sign accept only messages signed with their secret", async () => {
  const [hive] = await hives.swarm(2, { endpoints: [EU], secret: SECRET });
  await announceCapacity(update(50), { bus, namespace: "test" });
  await announceCapacity(update(40), { bus, namespace: "test", secret: `${SECRET}er` });
  await hives.clock.run(1_000);
  expect(hive?.explain("eu").level).toBe(1);
  await announceCapacity(update(30), { bus, namespace: "test", secret: SECRET, clock: hives.clock });
  await hives.clock.run(1_000);
  expect(hive?.explain("eu").level).toBe(0.3);
});

test("a lent bus stays open, and its failure is reported", async () => {
  await announceCapacity(update(50), { bus, namespace: "test" });
  await announceCapacity(update(50), { bus, namespace: "" });
  expect(bus.state).toBe("ready");
  await bus.close();
  const announced = announceCapacity(update(50), { bus, namespace: "test" });
  await expect(announced).rejects.toMatchObject({ code: "BUS_CLOSED" });
});

test.each([
  ["resource", ""],
  ["resource", "x".repeat(257)],
  ["agentId", ""],
  ["newCapacity", 0],
  ["newCapacity", 1.5],
  ["reason", "x".repeat(201)],
  ["timestamp", new Date(Number.NaN)],
])("a wrong %s is refused by its name and nothing is sent (case %#)", async (option, value) => {
  const announced = announceCapacity({ ...update(50), [option]: value }, { bus, namespace: "test" });
  await expect(announced).rejects.toMatchObject({ code: "INVALID_CONFIG", option });
});
