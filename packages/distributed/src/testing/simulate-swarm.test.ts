import { expect, test } from "vitest";
import type { Drive, SimulationOptions } from "./options.ts";
import { simulateEngine } from "./simulate-engine.ts";
import { simulateSwarm } from "./simulate-swarm.ts";

const MINUTE = 60_000;
const drives: readonly Drive[] = ["engine", "hive", "limiter"];
const busy: SimulationOptions = {
  seed: 1,
  agents: 4,
  limits: { requests: 300 },
  demand: { load: 2, skew: 0 },
  duration: 3 * MINUTE,
};

test("engine, hive and limiter reach the same figures", async () => {
  for (const drive of drives) {
    const report = await simulateSwarm({ ...busy, drive });
    expect(report, drive).toMatchObject({ drive, refused: 0, failed: 0, cuts: 0, levels: 1, limits: 1 });
    expect(report.max, drive).toBeLessThanOrEqual(1);
    expect(report.use, drive).toBeGreaterThan(0.95);
    expect(report.jain, drive).toBeGreaterThan(0.99);
  }
});

test("hives are simulated by default, and other schemes are unchanged", async () => {
  const short = { ...busy, duration: 20_000 };
  expect((await simulateSwarm(short)).drive).toBe("hive");
  expect(await simulateSwarm({ ...short, scheme: "gossip" })).toEqual(simulateEngine({ ...short, scheme: "gossip" }));
  expect(await simulateSwarm({ ...short, drive: "engine" })).toEqual(simulateEngine(short));
});

test("a cut is known to all hives and limiters, and counted once", async () => {
  const faults = [{ at: MINUTE, type: "refuse", agents: [2] }] as const;
  for (const drive of drives) {
    const report = await simulateSwarm({ ...busy, drive, faults });
    expect(report, drive).toMatchObject({ cuts: 1, refused: 1, levels: 1 });
    expect(report.cutSpreadMs, drive).toBeLessThan(1_000);
    const least = Math.min(...report.levelSeconds);
    // A hive cuts to the usage before the refusal, and the window was nearly full.
    if (drive === "hive") expect(Math.abs(least - 0.93), drive).toBeLessThan(0.05);
    else expect(least, drive).toBeCloseTo(0.5);
    const steps = await simulateSwarm({ ...busy, drive, recovery: "stepped", faults });
    expect(Math.min(...steps.levelSeconds), drive).toBeCloseTo(0.5);
  }
});

test("a crash, a freeze, a restart, an outage and a goodbye leave nothing behind", async () => {
  for (const drive of ["hive", "limiter"] as const) {
    const report = await simulateSwarm({
      ...busy,
      drive,
      faults: [
        { at: 20_000, type: "freeze", agents: [0], forMs: 5_000 },
        { at: 40_000, type: "crash", agents: [1] },
        { at: 60_000, type: "bus-down", forMs: 10_000 },
        { at: 90_000, type: "restart", agents: [2], downMs: 1_000, graceful: true, isRenamed: true },
        { at: 100_000, type: "leave", agents: [3] },
        { at: 105_000, type: "join", agents: [1] },
      ],
    });
    expect(report.refused, drive).toBe(0);
    expect(report.use, drive).toBeGreaterThan(0.6);
  }
});

test("a store grants the limit to hives and limiters", async () => {
  for (const drive of ["hive", "limiter"] as const) {
    const report = await simulateSwarm({ ...busy, drive, store: { aggregation: "store" } });
    expect(report.refused, drive).toBe(0);
    expect(report.use, drive).toBeGreaterThan(0.9);
    expect(report.storeCallsPerAgentSecond, drive).toBeGreaterThan(0.5);
    expect(report.messagesPerAgentSecond, drive).toBeLessThan(0.05);
  }
});

test("endpoints and keys have figures of their own", async () => {
  const { endpoints, keys, sent } = await simulateSwarm({
    ...busy,
    endpoints: [{ id: "east" }, { id: "west", limits: { requests: 300 } }],
    keys: [{ key: "one", part: 3 }, { key: "two" }],
    provider: { failures: { errors: 0.05 }, headers: true },
    faults: [{ at: 0, type: "provider", factor: 0.5, forMs: 10 * MINUTE, endpoints: ["west"] }],
    demand: { load: 0.4, skew: 0 },
  });
  const sum = (parts: typeof endpoints, figure: "sent" | "accepted") =>
    Object.values(parts).reduce((all, part) => all + part[figure], 0);
  expect(sum(endpoints, "sent")).toBe(sent);
  expect(sum(keys, "sent")).toBe(sent);
  expect((keys["one"]?.sent ?? 0) / sent).toBeCloseTo(0.75, 1);
  expect(endpoints["east"]?.failed).toBeGreaterThan(0);
  expect(endpoints["west"]?.useOfAllowed).toBeCloseTo(2 * (endpoints["west"]?.use ?? 0));
});

test("hives that only observe let everything pass", async () => {
  const report = await simulateSwarm({ ...busy, duration: MINUTE, observers: [0, 1, 2, 3] });
  expect(report.max).toBeGreaterThan(1.2);
  expect(report.refused).toBeGreaterThan(0);
});
