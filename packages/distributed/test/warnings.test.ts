import { type BusDriver, DriverBus, memoryBus } from "@hivepace/bus";
import { afterEach, beforeEach, expect, test } from "vitest";
import { TestHives } from "./support/hives.ts";
import { collectWarnings } from "./support/warnings.ts";

const EU = { id: "eu", rpmLimit: 10 };

let hives: TestHives;
let warnings: ReturnType<typeof collectWarnings>;
beforeEach(() => {
  hives = new TestHives();
  warnings = collectWarnings();
});
afterEach(async () => {
  await hives.close();
  warnings.stop();
});

test("a hive without a bus is not warned that it is alone on the bus", async () => {
  const hive = await hives.alone({ endpoints: [{ id: "eu", tpmLimit: 1_000 }] });
  for (let i = 0; i < 60; i++) {
    hive.tryAcquire({ endpoint: "eu", tokens: 10 }).lease?.done({ tokens: 1 });
    await hives.clock.run(1_000);
  }
  expect(warnings.codes).not.toContain("HIVEPACE_ALONE");
});

test("a hive without peers on its bus warns once that it is alone", async () => {
  await hives.join({ endpoints: [EU], bus: memoryBus(hives.broker, { clock: hives.clock }) });
  await hives.clock.run(60_000);
  expect(warnings.codes.filter((code) => code === "HIVEPACE_ALONE")).toHaveLength(1);
});

const withBus = () => ({ endpoints: [EU], bus: memoryBus(hives.broker, { clock: hives.clock }) });
const alone = () => warnings.codes.filter((code) => code === "HIVEPACE_ALONE");

test("a hive whose peers left normally is not warned that it is alone, nor are hives that shut down", async () => {
  const all = [await hives.join(withBus()), await hives.join(withBus()), await hives.join(withBus())];
  await hives.clock.run(20_000);
  for (const hive of all.slice(1)) await hive.close();
  await hives.clock.run(60_000);
  await all[0]?.close();
  await hives.clock.run(20_000);
  expect(warnings.codes).toEqual([]);
});

test("an outage of the bus that lasts is one warning, a short one is none", async () => {
  await hives.join({ ...withBus(), expectedAgents: 1 });
  await hives.clock.run(20_000);
  hives.broker.stop();
  await hives.clock.run(10_000);
  hives.broker.start();
  await hives.clock.run(20_000);
  expect(warnings.codes).toEqual([]);
  for (let outage = 1; outage <= 2; outage++) {
    hives.broker.stop();
    await hives.clock.run(600_000);
    hives.broker.start();
    await hives.clock.run(20_000);
    expect(warnings.codes).toEqual(new Array(outage).fill("HIVEPACE_BUS_AWAY"));
  }
  expect(alone()).toEqual([]);
});

test.each([
  [
    undefined,
    /^agent "hive-0" has not reached its bus for [56] s \(connect ECONNREFUSED\), and uses only minCapacity .*expectedAgents is not set/,
  ],
  [4, /uses capacity \/ expectedAgents until it does; "npx hivepace doctor"/],
])(
  "a bus that was never reached is a warning after five seconds, with reason and effect (%s expected agents)",
  async (expectedAgents, text) => {
    const never = () => new Promise<never>(() => {});
    const { supports } = await memoryBus();
    const driver: BusDriver = {
      name: "unreached",
      supports,
      awayReason: "connect ECONNREFUSED",
      publish: never,
      listen: never,
      unlisten: async () => {},
      close: async () => {},
    };
    const bus = new DriverBus(() => driver, "connecting", { clock: hives.clock });
    await hives.join({ endpoints: [EU], bus, expectedAgents });
    await hives.clock.run(4_000);
    expect(warnings.codes).toEqual([]);
    await hives.clock.run(30_000);
    expect(warnings.codes).toEqual(["HIVEPACE_BUS_AWAY"]);
    expect(warnings.texts[0]).toMatch(text);
  },
);
