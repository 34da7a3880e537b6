import { getEventListeners } from "node:events";
import { afterEach, beforeEach, expect, test } from "vitest";
import { TestHives, watch } from "./support/hives.ts";
import { collectWarnings } from "./support/warnings.ts";

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

test("a signal shared by thousands of waiters has one listener, and none after the last wait has ended", async () => {
  const endpoints = ["eu", "us"].map((id) => ({ id, maxInFlightPerProcess: 1 }));
  const hive = await hives.alone({ endpoints });
  for (const endpoint of ["eu", "us"]) await hive.acquire({ endpoint });
  const abort = new AbortController();
  const { signal } = abort;
  const waits = [...Array(2_000).keys()].map((i) =>
    watch(hive.acquire(i % 2 === 0 ? { endpoint: "eu", signal } : { route: ["eu", "us"], signal })),
  );
  await hives.clock.run(1);
  expect(getEventListeners(signal, "abort")).toHaveLength(1);
  expect(warnings.codes).toEqual([]);
  abort.abort(new Error("enough"));
  await hives.clock.run(1);
  expect(waits.every(({ error }) => (error as Error).message === "enough")).toBe(true);
  expect(getEventListeners(signal, "abort")).toHaveLength(0);
  expect(hive.status().waiting).toBe(0);
});

test("an abort ends all waits of its signal before any other wait is served", async () => {
  const hive = await hives.alone({ endpoints: [{ id: "eu", tpmLimit: 10 }] });
  await hive.acquire({ endpoint: "eu", tokens: 5 });
  const abort = new AbortController();
  const large = watch(hive.acquire({ endpoint: "eu", tokens: 10, signal: abort.signal }));
  const small = watch(hive.acquire({ endpoint: "eu", tokens: 5, signal: abort.signal }));
  const patient = watch(hive.acquire({ endpoint: "eu", tokens: 5 }));
  await hives.clock.run(1);
  abort.abort(new Error("enough"));
  await hives.clock.run(1);
  expect([large, small].map(({ error }) => (error as Error)?.message)).toEqual(["enough", "enough"]);
  expect(patient.lease).toBeDefined();
  expect(hive.explain("eu").inFlight).toBe(2);
});
