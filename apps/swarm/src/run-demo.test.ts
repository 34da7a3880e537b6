import { expect, test } from "vitest";
import { openMetrics } from "./metrics/open-metrics.ts";
import { openGround } from "./open-ground.ts";
import { runDemo } from "./run-demo.ts";

async function demo(...args: string[]) {
  const [out, err]: [string[], string[]] = [[], []];
  const code = await runDemo(args, {
    stdout: { write: (text) => out.push(text) },
    stderr: { write: (text) => err.push(text) },
    signal: new AbortController().signal,
  });
  return { code, out: out.join(""), err: err.join("") };
}

test("--help prints the usage", async () => {
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

test("a metrics port in use prints one line and exits with 2 before anything is started", async () => {
  const taken = await openMetrics(0);
  const { port } = new URL(taken.url);
  const { code, out, err } = await demo("--metrics", port, "--bus", "nats://127.0.0.1:1");
  await taken.close();
  expect([code, out]).toEqual([2, ""]);
  expect(err).toBe(`--metrics must be a free port, or 0 for any free port, got ${port}\n`);
});

test("a world that cannot start servers asks for an address, with an example", async () => {
  const { code, err } = await demo("--bus", "nats");
  expect(code).toBe(2);
  expect(err).toBe('--bus must be memory or an address such as nats://localhost:4222, got "nats"\n');
});

test("an address is used unchanged, and shown without its password", async () => {
  const ground = await openGround("redis://me:secret@a:1", {});
  expect(ground).toMatchObject({ address: "redis://me:secret@a:1", name: "redis://…@a:1", hosts: "process" });
});

test("an unavailable broker prints one line and exits with 1", async () => {
  const { code, err } = await demo("--bus", "nats://127.0.0.1:1", "--json");
  expect(code).toBe(1);
  expect(err.trimEnd().split("\n").at(-1)).toMatch(/^the nats bus is unavailable: /);
});
