import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { whyNot } from "@hivepace/servers/vitest";
import { until } from "@hivepace/test-kit";
import { afterEach, describe, expect, test } from "vitest";

const main = fileURLToPath(new URL("../src/main.ts", import.meta.url));
const demos: ChildProcess[] = [];
afterEach(() => {
  for (const demo of demos.splice(0)) demo.kill("SIGKILL");
});

interface Demo {
  readonly child: ChildProcess & { readonly pid: number };
  text(): string;
}

function start(...args: string[]): Demo {
  const node = ["--conditions", "@hivepace/source", "--import", "tsx", main, ...args];
  const child = spawn(process.execPath, node, { stdio: ["ignore", "pipe", "pipe"] });
  demos.push(child);
  let text = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (text += chunk));
  return { child: child as Demo["child"], text: () => text };
}

/**
 * Waits for a loader, a bundler and all agents to start, which on a busy machine takes longer than one `until` allows.
 */
async function running(text: () => string): Promise<void> {
  for (let patience = 3; !/agents started/.test(text()); patience--) {
    if (patience === 0) throw new Error(`the swarm does not run:\n${text()}`);
    await until(() => /agents started/.test(text()), "the swarm runs").catch(() => {});
  }
}

/** Returns all descendant processes. The guard of a server has its own process session, but is still a child. */
function descendants(pid: number): number[] {
  const pairs = String(execFileSync("ps", ["-eo", "pid=,ppid="]))
    .trim()
    .split("\n")
    .map((line) => line.trim().split(/\s+/).map(Number) as [number, number]);
  const below = (parent: number): number[] =>
    pairs.filter(([, ppid]) => ppid === parent).flatMap(([child]) => [child, ...below(child)]);
  return below(pid);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

const cases = [
  { bus: "memory", signal: "SIGINT", processes: 0 },
  { bus: "memory", signal: "SIGTERM", processes: 0 },
  { bus: "nats", signal: "SIGINT", processes: 3 },
] as const;

describe.each(cases)("$bus, $signal", ({ bus, signal, processes }) => {
  test.skipIf(bus === "nats" && whyNot(bus, { own: true }) !== undefined)(
    "leaves nothing behind",
    async () => {
      const { child, text } = start("--bus", bus, "--agents", "3", "--duration", "20");
      await running(text);
      const below = descendants(child.pid);
      expect(below.length).toBeGreaterThanOrEqual(processes);
      const url = /http:\/\/127\.0\.0\.1:\d+/.exec(text())?.[0];
      child.kill(signal);
      const [code] = await once(child, "exit");
      expect(code).toBe(130);
      expect(text()).toMatch(/After 0:\d\d minutes:\n.*tasks(.|\n)*Redis token bucket/);
      expect(text()).toContain("Interrupted: everything is stopped.");
      expect(text()).not.toMatch(/^\s+at /m);
      await until(() => !below.some(isAlive), "all processes are gone");
      if (url !== undefined) await expect(fetch(url)).rejects.toThrow();
    },
    120_000,
  );
});

test.skipIf(whyNot("nats", { own: true }) !== undefined)(
  "a demo that is killed takes its agents along",
  async () => {
    const { child, text } = start("--bus", "nats", "--agents", "2", "--headless");
    await running(text);
    const below = descendants(child.pid);
    child.kill("SIGKILL");
    await once(child, "exit");
    await until(() => !below.some(isAlive), "all processes are gone");
  },
  120_000,
);
