import { type MessageBus, memoryBus } from "@hivepace/bus";
import { afterEach, beforeEach, expect, test } from "vitest";
import { observeSwarm, parkEndpoint, type SwarmEvent, unparkEndpoint } from "../src/index.ts";
import { TestHives } from "./support/hives.ts";

const EU = { id: "eu", rpmLimit: 100 };
const SECRET = "a secret that is long enough";
const now = () => new Date(hives.clock.epochMs());
const decided = () => ({ endpoint: "eu", reason: "maintenance", agentId: "operator", timestamp: now() });

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

test("every agent parks what an operator parks, and opens it again, and observers see both", async () => {
  const swarm = await hives.swarm(3, { endpoints: [EU], secret: SECRET });
  const place = { bus, namespace: "test", secret: SECRET, clock: hives.clock };
  const observer = await observeSwarm({ bus, namespace: "test", secret: SECRET, clock: hives.clock });
  const events: SwarmEvent[] = [];
  observer.onEvent((event) => event.type === "availability" && events.push(event));
  await parkEndpoint({ ...decided(), forMs: 600_000 }, place);
  await hives.clock.run(1_000);
  for (const hive of swarm)
    expect(hive.explain("eu").availability).toMatchObject({
      state: "parked",
      agentId: "operator",
      reason: "maintenance",
    });
  expect(observer.snapshot().availability).toMatchObject([{ resource: "eu", model: undefined, state: "parked" }]);
  await unparkEndpoint(decided(), place);
  await hives.clock.run(1_000);
  for (const hive of swarm) expect(hive.explain("eu").availability.state).toBe("available");
  expect(observer.snapshot().availability).toEqual([]);
  expect(events.map((event) => "state" in event && event.state)).toEqual(["parked", "available"]);
  await observer.close();
});

test("an observer that starts while an endpoint is parked sees it open", async () => {
  const [hive] = await hives.swarm(2, { endpoints: [EU], secret: SECRET });
  hive?.park("eu", { reason: "maintenance" });
  await hives.clock.run(3_500);
  const observer = await observeSwarm({ bus, namespace: "test", secret: SECRET, clock: hives.clock });
  const states: string[] = [];
  observer.onEvent((event) => event.type === "availability" && states.push(event.state));
  await unparkEndpoint(decided(), { bus, namespace: "test", secret: SECRET, clock: hives.clock });
  await hives.clock.run(1_000);
  expect(states).toEqual(["available"]);
  await observer.close();
});

test("without a secret an operator parks for one window, and a repeated message changes nothing", async () => {
  const [hive] = await hives.swarm(2, { endpoints: [EU] });
  const once = { ...decided(), forMs: 86_400_000 };
  await parkEndpoint(once, { bus, namespace: "test" });
  await hives.clock.run(30_000);
  await parkEndpoint(once, { bus, namespace: "test" });
  await hives.clock.run(1_000);
  expect(hive?.explain("eu").availability.state).toBe("parked");
  await hives.clock.run(30_000);
  expect(hive?.explain("eu").availability.state).toBe("available");
});

test("agents that sign accept no unsigned decision", async () => {
  const [hive] = await hives.swarm(2, { endpoints: [EU], secret: SECRET });
  await parkEndpoint(decided(), { bus, namespace: "test" });
  await hives.clock.run(1_000);
  expect(hive?.explain("eu").availability.state).toBe("available");
});

test("a decision that is older than five minutes is refused: it may be a recording", async () => {
  const [hive] = await hives.swarm(2, { endpoints: [EU] });
  const timestamp = new Date(hives.clock.epochMs() - 301_000);
  await parkEndpoint({ ...decided(), timestamp }, { bus, namespace: "test" });
  await hives.clock.run(1_000);
  expect(hive?.explain("eu").availability.state).toBe("available");
  expect(hive?.status().ignored).toMatchObject({ "too old": 1 });
});

test("the invalid part of a decision is named", async () => {
  const place = { bus, namespace: "test" };
  await expect(parkEndpoint({ ...decided(), endpoint: "" }, place)).rejects.toThrow("endpoint must be");
  await expect(parkEndpoint({ ...decided(), forMs: 0 }, place)).rejects.toThrow("forMs must be");
  await expect(unparkEndpoint({ ...decided(), model: "" }, place)).rejects.toThrow("model must be");
});
