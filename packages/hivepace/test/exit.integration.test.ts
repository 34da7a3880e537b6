import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { describeOwnServer, describeServer } from "@hivepace/servers/vitest";
import { until } from "@hivepace/test-kit";
import { expect, onTestFinished, test } from "vitest";
import { observeSwarm } from "../src/index.ts";

const program = fileURLToPath(new URL("support/left-open.ts", import.meta.url));
/** Far above the duration of a run, and far below that of a process that never ends. */
const PATIENCE_MS = 40_000;

interface Further {
  readonly sync?: string;
  /** Called when the program has opened its hive. */
  readonly onOpen?: () => unknown;
}

interface Ended {
  readonly code: unknown;
  readonly output: string;
}

/** Runs the program, which closes nothing. Resolves with its exit code and output; a program that hangs is killed. */
async function run(mode: string, bus: string, namespace: string, more: Further = {}): Promise<Ended> {
  const args = [mode, bus, namespace, ...(more.sync ? [more.sync] : [])];
  const child = spawn(process.execPath, ["--conditions", "@hivepace/source", "--import", "tsx", program, ...args]);
  let output = "";
  let errors = "";
  child.stdout.on("data", (data) => (output += data));
  // Only for the report: a slow machine may cause warnings.
  child.stderr.on("data", (data) => (errors += data));
  child.stdout.once("data", () => more.onOpen?.());
  const timer = setTimeout(() => child.kill("SIGKILL"), PATIENCE_MS);
  const [code] = await once(child, "close");
  clearTimeout(timer);
  if (code !== 0) output += errors;
  return { code, output };
}

const namespaceOf = (name: string) => `exit-${name}-${process.pid}-${Date.now()}`;

for (const kind of ["nats", "redis", "kafka"] as const)
  describeServer(kind, (server) => {
    const address = () => (kind === "kafka" ? `kafka://${server().url}` : server().url);

    test("a process whose hive nobody waits for ends by itself, and says goodbye", { timeout: 60_000 }, async () => {
      const [bus, namespace] = [address(), namespaceOf(kind)];
      const observer = await observeSwarm({ bus, namespace });
      onTestFinished(() => observer.close());
      const seen: string[] = [];
      observer.onEvent((event) => "agentId" in event && seen.push(event.type));
      expect(await run("idle", bus, namespace)).toEqual({ code: 0, output: "open\n" });
      await until(() => seen.includes("left"), "the observer has received the goodbye");
      // Without a goodbye the agent would be silent before it counts as gone.
      expect(seen).toEqual(["joined", "left"]);
    });

    test("a process ends only after its waiting call is served", { timeout: 60_000 }, async () => {
      expect(await run("waiting", address(), namespaceOf(kind))).toEqual({ code: 0, output: "open\nserved\n" });
    });

    test("an observer does not keep its process alive", { timeout: 60_000 }, async () => {
      expect(await run("observer", address(), namespaceOf(kind))).toEqual({ code: 0, output: "" });
    });
  });

describeServer("redis", (server) => {
  test("a store does not keep the process of its hive alive", async () => {
    const { url } = server();
    expect(await run("idle", url, namespaceOf("store"), { sync: url })).toEqual({ code: 0, output: "open\n" });
  });
});

for (const kind of ["nats", "redis", "kafka"] as const)
  describeOwnServer(kind, (server) => {
    test("a process whose broker went away ends by itself", { timeout: 60_000 }, async () => {
      const bus = kind === "kafka" ? `kafka://${server().url}` : server().url;
      const ended = run("until-away", bus, namespaceOf("went"), { onOpen: () => server().kill() });
      expect(await ended).toMatchObject({ code: 0, output: expect.stringMatching(/^open\n.*away\n/s) });
    });
  });

test.each(["nats://127.0.0.1:1", "redis://127.0.0.1:1", "kafka://127.0.0.1:1"])(
  "a process whose broker is away ends by itself: %s",
  { timeout: 60_000 },
  async (bus) => {
    expect(await run("away", bus, namespaceOf("away"))).toMatchObject({ code: 0, output: "open\n" });
  },
);
