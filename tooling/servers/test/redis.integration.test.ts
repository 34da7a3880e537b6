import { Redis } from "ioredis";
import { expect, test } from "vitest";
import { answers, redisProbe } from "../src/process/probe.ts";
import { describeOwnServer, describeServer } from "../src/vitest.ts";

function connect(url: string, options: { password?: string } = {}): Redis {
  const client = new Redis(url, { ...options, retryStrategy: () => 50, maxRetriesPerRequest: null });
  client.on("error", () => {});
  return client;
}

describeServer("redis", (server) => {
  test("a stored value can be read", async () => {
    const redis = connect(server().url);
    const key = `hivepace-test:${process.pid}:${Date.now()}`;
    await redis.set(key, "here", "EX", 60);
    expect(await redis.get(key)).toBe("here");
    await redis.del(key);
    await redis.quit();
  });
});

describeOwnServer("redis", (server) => {
  test("a killed server comes back on its port, and a client reconnects", async () => {
    const redis = connect(server().url);
    const { port, pid } = server();
    await redis.ping();
    await server().kill();
    expect(server().pid).toBeUndefined();
    await server().start();
    expect(server().port).toBe(port);
    expect(server().pid).not.toBe(pid);
    expect(await redis.ping()).toBe("PONG");
    redis.disconnect();
  });

  test("a paused server answers after it is resumed, and can be shut down while paused", async () => {
    const redis = connect(server().url);
    await redis.ping();
    await server().pause();
    const pong = redis.ping();
    expect(await answers(server(), redisProbe, 300)).toBe(false);
    await server().resume();
    expect(await pong).toBe("PONG");
    redis.disconnect();
    await server().pause();
    await server().restart();
    expect(server().pid).toBeDefined();
  });
});

describeOwnServer(
  "redis",
  (server) => {
    test("options take effect: a password, and data that survives a restart", async () => {
      const redis = connect(server().url, { password: "secret" });
      await redis.set("key", "kept");
      await server().restart();
      expect(await redis.get("key")).toBe("kept");
      redis.disconnect();
      const stranger = connect(server().url);
      await expect(stranger.get("key")).rejects.toThrow("NOAUTH");
      stranger.disconnect();
    });
  },
  { args: ["--requirepass", "secret", "--appendonly", "yes", "--appendfsync", "always"] },
);
