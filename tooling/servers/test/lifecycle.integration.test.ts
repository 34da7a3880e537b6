import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { describe, expect, test, vi } from "vitest";
import { ensure, StartFailedError, startOwnServer, startServer, until } from "../src/index.ts";
import { whyNot } from "../src/vitest.ts";
import { folderIsThere, isAlive } from "./support/processes.ts";

const reason = whyNot("redis", { own: true });

describe.skipIf(reason !== undefined)(reason ?? "the life of a server", () => {
  test("stop leaves no process and no folder, and may be called twice", async () => {
    const { pid = 0, port, stop } = await bound(startOwnServer("redis"));
    expect(isAlive(pid)).toBe(true);
    expect(folderIsThere(port)).toBe(true);
    await Promise.all([stop(), stop()]);
    await stop();
    expect(isAlive(pid)).toBe(false);
    expect(folderIsThere(port)).toBe(false);
  });

  test("a server that was stopped for good cannot be started again", async () => {
    const server = await startOwnServer("redis");
    await server.stop();
    await expect(server.start()).rejects.toThrow("stopped for good");
  });

  test("a server ends with the process that started it, even when that is killed", async () => {
    const program = fileURLToPath(new URL("./support/start-redis.ts", import.meta.url));
    const parent = spawn(process.execPath, ["--import", "tsx", program], { stdio: ["ignore", "pipe", "inherit"] });
    const [line] = (await once(createInterface({ input: parent.stdout }), "line")) as [string];
    const { pid, port } = JSON.parse(line) as { pid: number; port: number };
    expect(isAlive(pid)).toBe(true);
    parent.kill("SIGKILL");
    expect(await until(() => !isAlive(pid) && !folderIsThere(port), { deadlineMs: 10_000 })).toBe(true);
  });

  test("two servers of one kind can run at the same time", async () => {
    await using one = await startOwnServer("redis");
    await using other = await startOwnServer("redis");
    expect(one.port).not.toBe(other.port);
    await one.kill();
    expect(isAlive(other.pid ?? 0)).toBe(true);
  });

  test("a failed start reports the end of the server's log, and leaves nothing behind", async () => {
    const error = await startOwnServer("redis", { args: ["--no-such-option", "1"] }).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(StartFailedError);
    expect(String(error)).toMatch(/ended before it was ready.*no-such-option/s);
  });

  test("an address in the environment wins, and its server is left alone", async () => {
    await using given = await startOwnServer("redis");
    vi.stubEnv("REDIS_URL", given.url);
    const server = await startServer("redis");
    expect(server).toMatchObject({ origin: "address", url: given.url, port: given.port });
    expect(await ensure("redis")).toMatchObject({ origin: "address", detail: `REDIS_URL=${given.url}` });
    await server.stop();
    expect(isAlive(given.pid ?? 0)).toBe(true);
    await using own = await startOwnServer("redis");
    expect(own.port).not.toBe(given.port);
  });

  test("an address without a server is an error", async () => {
    const given = await startOwnServer("redis");
    await given.stop();
    vi.stubEnv("REDIS_URL", given.url);
    await expect(startServer("redis")).rejects.toThrow(/REDIS_URL is set, but no redis server answers/);
  });
});

async function bound(starting: ReturnType<typeof startOwnServer>) {
  const server = await starting;
  return { pid: server.pid, port: server.port, stop: () => server.stop() };
}
