import { startOwnServer } from "@hivepace/servers";
import { describeOwnServer } from "@hivepace/servers/vitest";
import { redisSync } from "@hivepace/sync-redis";
import { until } from "@hivepace/test-kit";
import { Redis } from "ioredis";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { Cli, cli } from "./support/cli.ts";
import { Swarm } from "./support/swarm.ts";

const CLUSTER_NODE = ["--cluster-enabled", "yes", "--cluster-announce-ip", "127.0.0.1"];

describeOwnServer("redis", (server) => {
  let swarm: Swarm;
  let admin: Redis;
  beforeAll(() => {
    admin = new Redis(server().url);
  });
  afterAll(() => admin.quit());
  beforeEach(() => {
    swarm = new Swarm(server().url);
  });
  afterEach(() => swarm.close());

  const as = (user: string) => server().url.replace("//", `//${user}:p/w@`);
  const grant = (user: string, ...rules: string[]) =>
    admin.call("ACL", "SETUSER", user, "reset", "on", ">p/w", ...rules);

  /**
   * Starts an instance whose counts are in Redis. Counts belong to the present minute, so enough of that minute must be
   * left.
   */
  async function counted(): Promise<void> {
    await until(() => Date.now() % 60_000 < 30_000, "the minute has time left");
    const hive = await swarm.join("agent-1", { sync: redisSync({ url: server().url }) });
    await until(async () => {
      hive.tryAcquire({ endpoint: "eu", tokens: 1 }).lease?.done();
      return (await admin.exists("prod:ratelimit:eu:default")) === 1;
    }, "the counts are in Redis");
  }

  test("status without a bus finds the counts of the instances", async () => {
    await counted();
    const text = await cli(["status", "--redis", server().url, "--namespace", "prod"]);
    expect(text).toMatchObject({ code: 0, out: expect.stringMatching(/^eu +\d+ +\d+ +\d+$/m) });
    expect(text.out).toContain("of the present window of 1 min");
    const other = await cli(["status", "--redis", server().url, "--namespace", "other"]);
    expect(other).toMatchObject({ code: 1, out: expect.stringContaining("Redis contains no counts") });
  });

  test("status with bus and Redis takes the limits from the bus", async () => {
    await counted();
    const args = ["status", "--bus", server().url, "--redis", server().url, "--namespace", "prod", "--json"];
    const { code, out } = await cli(args);
    expect(code).toBe(0);
    const { swarm: seen, store } = JSON.parse(out);
    expect(seen.agents).toMatchObject([{ agentId: "agent-1" }]);
    expect(store.endpoints).toMatchObject([{ id: "eu", rpmLimit: 600, tpmLimit: 60_000, error: null }]);
  });

  test("status for a user without the right to SCAN needs named endpoints", async () => {
    await counted();
    await grant("reader", "~prod:ratelimit:*", "+ping", "+evalsha", "+eval", "+time", "+hmget");
    const args = ["status", "--redis", as("reader"), "--namespace", "prod"];
    expect(await cli(args)).toMatchObject({ code: 1, err: expect.stringMatching(/may not SCAN.*--endpoint/) });
    const { code, out } = await cli([...args, "--endpoint", "eu:100:1000"]);
    expect({ code, out }).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^eu +\d+ of 100 +[\d,]+ of 1,000 +\d+ %/m),
    });
  });

  test.each([
    ["watch", "--listen", "200"],
    ["dashboard", "--port", "0"],
  ])("%s exits with 1 and a message when its user is deleted", async (...args) => {
    await grant("guest", "&prod*", "+subscribe", "+unsubscribe", "+ping", "+publish", "+client", "+info");
    const run = new Cli([...args, "--bus", as("guest"), "--namespace", "prod", "--json"]);
    await run.until(() => run.lines.length > 0, "the first output");
    await admin.call("ACL", "DELUSER", "guest");
    const { code, err } = await run.ended;
    expect({ code, err }).toEqual({
      code: 1,
      err: expect.stringContaining("the broker has closed the connection for good"),
    });
  });

  const doctor = async (args: readonly string[]) => {
    const { code, out } = await cli(["doctor", "--listen", "1500", "--json", ...args]);
    const { checks } = JSON.parse(out) as { checks: { check: string; state: string; text: string; advice: string }[] };
    return { code, checks, wrong: checks.filter(({ state }) => state === "wrong") };
  };

  test("doctor finds no problem with a working Redis, and leaves nothing behind", async () => {
    await counted();
    const both = ["--bus", server().url, "--redis", server().url, "--namespace", "prod"];
    const { code, wrong, checks } = await doctor(both);
    expect({ code, wrong }).toEqual({ code: 0, wrong: [] });
    expect(checks.map(({ check }) => check)).toEqual(expect.arrayContaining(["redis", "clocks", "rights"]));
    expect(await admin.pttl("prod:ratelimit:hivepace-doctor:default")).toBeLessThan(30_000);
    const { out } = await cli(["status", "--redis", server().url, "--namespace", "prod"]);
    expect(out).not.toContain("doctor");
  });

  test("doctor finds no problem with exactly the documented rights", async () => {
    const rights = ["+evalsha", "+eval", "+time", "+hmget", "+hset", "+del", "+pexpire", "+ping", "+info"];
    await grant("agent", "~prod:ratelimit:*", ...rights);
    expect(await doctor(["--redis", as("agent"), "--namespace", "prod"])).toMatchObject({ code: 0, wrong: [] });
    const elsewhere = await doctor(["--redis", as("agent"), "--namespace", "staging"]);
    expect(elsewhere.wrong).toMatchObject([
      { check: "rights", advice: expect.stringContaining("~staging:ratelimit:*") },
    ]);
  });

  test.each([
    ["hset", "rights", /\+hset/],
    ["time", "clocks", /\+time/],
  ])("doctor finds a missing right to %s", async (command, check, advice) => {
    await grant("agent", "~*", "+@all", `-${command}`);
    const { code, wrong } = await doctor(["--redis", as("agent"), "--namespace", "prod"]);
    expect(code).toBe(1);
    expect(wrong).toContainEqual(expect.objectContaining({ check, advice: expect.stringMatching(advice) }));
  });

  test("doctor finds a missing right to the channels for both subscribe and publish", async () => {
    await grant("agent", "~*", "+@all", "resetchannels");
    const { code, wrong } = await doctor(["--bus", as("agent"), "--namespace", "prod"]);
    expect(code).toBe(1);
    expect(wrong.map(({ check }) => check)).toEqual(expect.arrayContaining(["hear", "speak"]));
  });

  test("doctor distinguishes a wrong password from a wrong port", async () => {
    const password = await doctor(["--redis", server().url.replace("//", "//nobody:no@"), "--namespace", "prod"]);
    expect(password.wrong).toMatchObject([{ check: "redis", advice: expect.stringContaining("password") }]);
    const port = await doctor(["--redis", "redis://127.0.0.1:1", "--namespace", "prod"]);
    expect(port.wrong).toMatchObject([{ check: "redis", advice: expect.stringContaining("nothing listens") }]);
  });

  test("doctor names the namespace of the agents on Redis", async () => {
    await swarm.join("agent-1", { namespace: "staging" });
    const { code, wrong } = await doctor(["--bus", server().url, "--namespace", "prod"]);
    expect(code).toBe(1);
    expect(wrong).toMatchObject([{ check: "agents", advice: expect.stringContaining("--namespace staging") }]);
  });

  test("doctor notes a memory policy that may evict counts", async () => {
    await admin.config("SET", "maxmemory", "100mb");
    await admin.config("SET", "maxmemory-policy", "allkeys-lru");
    const { code, checks } = await doctor(["--redis", server().url, "--namespace", "prod"]);
    await admin.config("SET", "maxmemory", "0");
    expect(code).toBe(0);
    expect(checks).toContainEqual(expect.objectContaining({ state: "note", text: "maxmemory-policy allkeys-lru" }));
  });

  test("a Cluster is recognised from one of its nodes", async () => {
    await using node = await startOwnServer("redis", { args: CLUSTER_NODE });
    const client = new Redis(node.url);
    await client.call("CLUSTER", "ADDSLOTSRANGE", "0", "16383");
    await until(async () => /cluster_state:ok/.test(String(await client.call("CLUSTER", "INFO"))), "the cluster is up");
    await client.quit();
    const { code, checks } = await doctor(["--redis", node.url, "--namespace", "prod"]);
    expect(code).toBe(0);
    expect(checks).toContainEqual(
      expect.objectContaining({ check: "redis", text: expect.stringContaining("a Cluster") }),
    );
    const sync = redisSync({ cluster: { nodes: [node.url] } });
    const hive = await swarm.join("agent-1", { bus: undefined, sync });
    await until(async () => {
      const { out } = await cli(["status", "--redis", node.url, "--namespace", "prod", "--json"]);
      return JSON.parse(out).store.endpoints.some(({ id }: { id: string }) => id === "eu");
    }, "the counts are found");
    await hive.close();
  });
});
