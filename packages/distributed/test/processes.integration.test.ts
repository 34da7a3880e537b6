import { type ChildProcess, execFile, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describeServer } from "@hivepace/servers/vitest";
import { afterEach, expect, test } from "vitest";

const file = fileURLToPath(new URL("agent.worker.ts", import.meta.url));
const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
});

interface Agent {
  readonly child: ChildProcess;
  ask<T>(act: string, details?: object): Promise<T>;
}

describeServer("redis", (server) => {
  const namespace = `processes-${process.pid}-${Date.now()}`;

  async function start(agentId: string): Promise<Agent> {
    const execArgv = ["--conditions", "@hivepace/source", "--import", "tsx"];
    const child = fork(file, [server().url, agentId, namespace], { execArgv });
    children.push(child);
    await once(child, "message");
    const ask = async <T>(act: string, details: object = {}): Promise<T> => {
      const answer = once(child, "message");
      child.send({ act, ...details });
      return (await answer)[0] as T;
    };
    return { child, ask };
  }

  test("four processes, two endpoints: traffic leaves the endpoint that another process fills, within two syncs", async () => {
    const [first, ...others] = (await Promise.all(["a", "b", "c", "d"].map(start))) as [Agent, ...Agent[]];
    const route = async () =>
      Promise.all(others.map((agent) => agent.ask<{ eu: number; us: number }>("route", { times: 40 })));
    let used = 1_000;
    for (const { eu, us } of await route()) {
      used += eu;
      expect(eu).toBeGreaterThan(5);
      expect(us).toBeGreaterThan(5);
    }

    await first.ask("send", { endpoint: "eu", times: 1_000 });
    await first.ask("sync");
    // After two syncs of each, all instances know the usage of the first.
    for (const agent of others) expect(await agent.ask("sync")).toBe(0);
    for (const agent of others) await agent.ask("sync");
    for (const taken of await route()) expect(taken).toEqual({ eu: 0, us: 40 });

    // The instance crashes. Its usage remains counted, and its successor does not count the same usage again.
    first.child.kill("SIGKILL");
    await once(first.child, "exit");
    const again = await start("a");
    await again.ask("send", { endpoint: "us", times: 7 });
    await again.ask("sync");
    for (const agent of others) await agent.ask("sync");
    for (const agent of others) await agent.ask("sync");
    for (const taken of await route()) expect(taken).toEqual({ eu: 0, us: 40 });
    for (const agent of others)
      expect(await agent.ask("get", { endpoint: "eu" })).toMatchObject({ rpm: used, agents: 4 });
  });

  test.each([
    ["with Redis", true, /^fresh\n$/],
    // On a busy machine the view may already count as stale.
    ["without Redis", false, /^(starting|stale)\n$/],
  ])("a view that is never closed does not keep its process alive: %s", async (_, isThere, state) => {
    const leftOpen = fileURLToPath(new URL("left-open.worker.ts", import.meta.url));
    // The worker waits long for a running server, because the machine may be slow.
    const [url, timeoutMs] = isThere ? [server().url, "60000"] : ["redis://127.0.0.1:1", "500"];
    const args = ["--conditions", "@hivepace/source", "--import", "tsx", leftOpen, url, timeoutMs];
    const { stdout } = await promisify(execFile)(process.execPath, args);
    expect(stdout).toMatch(state);
  });
});
