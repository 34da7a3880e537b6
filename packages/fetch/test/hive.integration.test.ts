import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { startProvider } from "@hivepace/provider";
import { describeServer } from "@hivepace/servers/vitest";
import { afterEach, expect, test } from "vitest";
import { bundledCallers } from "./support/callers.ts";

/** The limit of all hives together, and its window. */
const LIMIT = 50;
const WINDOW_MS = 3_000;

const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
});

describeServer("nats", (server) => {
  test("fifty calls of each of four processes with hives on NATS: none is refused, none fails, no SDK retries", async () => {
    const program = await bundledCallers("hive-callers");
    // Requests may be on their way for up to a whole window: then two windows of the hives are in one of the provider's.
    const provider = await startProvider({ rpm: 2 * LIMIT, windowMs: WINDOW_MS, limitHeaders: false });
    const namespace = `fetch-${process.pid}-${Date.now()}`;
    const agents = ["a", "b", "c", "d"];
    const started = agents.map((agent, i) => {
      const sdk = i % 2 === 0 ? "openai" : "anthropic";
      const args = [sdk, agent, provider.url, "50", server().url, namespace, `${LIMIT}`, `${WINDOW_MS}`];
      const child = fork(program, args, { execArgv: ["--no-warnings"] });
      children.push(child);
      const ended = once(child, "exit");
      return { child, ready: Promise.race([once(child, "message"), ended]), ended };
    });
    await Promise.all(started.map(({ ready }) => ready));
    for (const { child } of started) if (child.connected) child.send("go");
    expect((await Promise.all(started.map(({ ended }) => ended))).map(([code]) => code)).toEqual([0, 0, 0, 0]);
    for (const agent of agents)
      expect(provider.log.filter((sent) => sent.agent === agent).map(({ status }) => status)).toEqual(
        Array.from({ length: 50 }, () => 200),
      );
    expect(provider.log.filter(({ retryCount }) => retryCount > 0)).toEqual([]);
    await provider.close();
  });
});
