import { expect, test } from "vitest";
import { baselineOf } from "./compare.ts";
import { openMetrics } from "./metrics/open-metrics.ts";
import { openGround } from "./open-ground.ts";
import { planOf } from "./plan.ts";
import { runDemo } from "./run-demo.ts";
import { scenarios } from "./scenarios.ts";

async function demo(...args: string[]) {
  const [out, err]: [string[], string[]] = [[], []];
  const code = await runDemo(args, {
    stdout: { write: (text) => out.push(text) },
    stderr: { write: (text) => err.push(text) },
    signal: new AbortController().signal,
  });
  return { code, out: out.join(""), err: err.join("") };
}

test("--help tells how to use it", async () => {
  const { code, out, err } = await demo("--help");
  expect([code, err]).toEqual([0, ""]);
  expect(out).toContain("--scenario <name>");
});

test.each([
  ["--agents", "none"],
  ["--bus", "rabbit"],
  ["--scenario", "boom"],
])("%s %s is one line, exit code 2, and no stack", async (...args) => {
  const { code, out, err } = await demo(...args);
  expect([code, out]).toEqual([2, ""]);
  expect(err).toMatch(new RegExp(`^${args[0]} must be [^\\n]*, got "${args[1]}"\\n$`));
});

test("a port for the metrics that is taken is one line, and exit code 2, before anything is started", async () => {
  const taken = await openMetrics(0);
  const { port } = new URL(taken.url);
  const { code, out, err } = await demo("--metrics", port, "--bus", "nats://127.0.0.1:1");
  await taken.close();
  expect([code, out]).toEqual([2, ""]);
  expect(err).toBe(`--metrics must be a port that is free, or 0 for any that is free, got ${port}\n`);
});

test("without servers of its own a kind of bus needs an address, and the line says which", async () => {
  const { code, err } = await demo("--bus", "nats");
  expect(code).toBe(2);
  expect(err).toBe('--bus must be memory or an address such as nats://localhost:4222, got "nats"\n');
});

test("an address is used as it is, and shown without its password", async () => {
  const ground = await openGround("redis://me:secret@a:1", {});
  expect(ground).toMatchObject({ address: "redis://me:secret@a:1", name: "redis://…@a:1", hosts: "process" });
});

test("a broker that is not there is one line, and exit code 1", async () => {
  const { code, err } = await demo("--bus", "nats://127.0.0.1:1", "--json");
  expect(code).toBe(1);
  expect(err.trimEnd().split("\n").at(-1)).toMatch(/^the nats bus is unavailable: /);
});

test("a comparison has the same load on the same provider, shorter, and nothing happens to it", () => {
  const plan = planOf({ agents: 8, rpm: undefined, tpm: undefined, scenario: "cut", duration: 40, seed: 7 });
  const baseline = baselineOf(plan, "alone");
  expect(baseline).toMatchObject({ seed: 7, agents: 8, rpm: plan.rpm, durationMs: 30_000, windowMs: 10_000 });
  expect(baseline.scenario).toMatchObject({ pacing: "alone", demand: scenarios.cut.demand, steps: [] });
});
