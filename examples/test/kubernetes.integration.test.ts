import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { natsBus } from "@hivepace/bus-nats";
import { createHive, type Hive } from "@hivepace/distributed";
import { startOwnServer } from "@hivepace/servers";
import { describeOwnServer, whyNot } from "@hivepace/servers/vitest";
import { redisSync } from "@hivepace/sync-redis";
import { until, warnings } from "@hivepace/test-kit";
import { Redis } from "ioredis";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { agentProgram, natsConfig, podEnvironment, redisUser } from "./support/kubernetes.ts";
import { bundled } from "./support/run-program.ts";

const env = podEnvironment();
const credentials = { user: "agent", pass: env["NATS_PASSWORD"] as string };
const redisLogin = { username: "agent", password: env["REDIS_PASSWORD"] as string };
const common = {
  namespace: env["HIVEPACE_ENVIRONMENT"] as string,
  secret: env["HIVEPACE_SECRET"] as string,
  heartbeatIntervalMs: 100,
  endpoints: [{ id: "api", rpmLimit: 1_000, tpmLimit: 100_000 }],
};

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function opened(hive: Promise<Hive>): Promise<Hive> {
  const it = await hive;
  closing.push(() => it.close());
  return it;
}

describeOwnServer(
  "nats",
  (nats) =>
    describeOwnServer("redis", (redis) => {
      const admin = () => {
        const client = new Redis(redis().url);
        closing.push(() => client.quit());
        return client;
      };
      const grant = async (rules = redisUser) => {
        await admin().call("ACL", "SETUSER", rules[0] as string, "reset", ...rules.slice(1));
      };
      beforeAll(async () => {
        await grant();
        for (const close of closing.splice(0)) await close();
      });

      test("SIGTERM: a pod ends its calls, announces its departure, and exits with 0", async () => {
        // An API that responds on command.
        const held: (() => void)[] = [];
        const api = createServer((request, response) => {
          request.resume();
          held.push(() => response.end('{"usage":{"total_tokens":7}}'));
        });
        api.listen(0, "127.0.0.1");
        await once(api, "listening");
        closing.push(() => api.close());
        const apiUrl = `http://127.0.0.1:${(api.address() as AddressInfo).port}/v1/chat/completions`;
        const observer = await opened(
          createHive({
            ...common,
            heartbeatIntervalMs: 1_000,
            endpoints: [{ id: "api", rpmLimit: Number(env["RPM_LIMIT"]), tpmLimit: Number(env["TPM_LIMIT"]) }],
            agentId: "observer",
            bus: natsBus({ servers: nats().url, ...credentials }),
            sync: redisSync({ url: redis().url, ...redisLogin }),
          }),
        );
        const own = { NATS_URL: nats().url, REDIS_URL: redis().url, API_URL: apiUrl, POD_NAME: "pod-1", PORT: "0" };
        const pod = spawn(process.execPath, [await bundled(agentProgram)], {
          env: { ...process.env, ...env, ...own },
          stdio: ["ignore", "pipe", "inherit"],
        });
        closing.push(() => pod.kill("SIGKILL"));
        const said = linesOf(pod);
        // Output may still arrive after "exit"; "close" follows both.
        const ended = once(pod, "close");
        await until(() => said.some((line) => line.startsWith("listening")), "the pod listens");
        const url = `http://127.0.0.1:${said[0]?.split(" ").at(-1)}`;
        expect((await fetch(`${url}/ready`)).status).toBe(200);
        const body = JSON.stringify({ model: "gpt-x", messages: [{ role: "user", content: "Hello" }] });
        const call = fetch(`${url}/ask`, { method: "POST", body });
        await until(() => held.length === 1, "the call is under way");
        await until(() => observer.status().members === 2, "both know each other");

        pod.kill("SIGTERM");
        await until(() => said.includes("leaving, 1 calls are under way"), "it was told to end");
        expect((await fetch(`${url}/ready`)).status).toBe(503);
        expect((await fetch(`${url}/ask`, { method: "POST", body })).status).toBe(503);
        // The pod is still a live member, because calls under way are counted.
        expect(observer.status().peers).toMatchObject([{ agentId: "pod-1", state: "live" }]);
        held[0]?.();
        expect(await (await call).text()).toBe('{"usage":{"total_tokens":7}}');
        expect(await ended).toEqual([0, null]);
        expect(said.at(-1)).toBe("left");
        // The state must be "left": a "silent" pod would keep its share for a minute.
        await until(() => observer.status().peers[0]?.state === "left", "its departure is known");
      });

      test("with exactly these rights hives know each other, learn of a 429, and share keys through Redis", async () => {
        const keys = { acme: { rpmLimit: 100 } };
        const join = (agentId: string) =>
          opened(
            createHive({
              ...common,
              keys,
              agentId,
              bus: natsBus({ servers: nats().url, ...credentials }),
              sync: redisSync({ url: redis().url, ...redisLogin }),
            }),
          );
        const wanted = ["prod:ratelimit-key:acme:default", "prod:ratelimit:api:default"];
        const store = admin();
        const keysOf = (pattern: string) => store.keys(pattern).then((found) => `${found.sort()}`);
        let hives: Hive[] = [];
        const codes = await warnings(async () => {
          hives = [await join("a"), await join("b")];
          const [a, b] = hives as [Hive, Hive];
          await until(() => a.status().members === 2 && b.status().members === 2, "both know each other");
          (await a.acquire({ endpoint: "api", tokens: 10 })).refused({ reason: "429" });
          await until(() => b.explain("api").cause?.agentId === "a", "the other hears of it");
          // Repeated, because usage just before the end of a minute is not synced any more.
          await until(async () => {
            a.tryAcquire({ endpoint: "api", key: "acme", tokens: 10 }).lease?.done();
            return (await keysOf("prod:ratelimit*")) === `${wanted}`;
          }, "both kinds of keys are there");
          await until(() => {
            a.tryAcquire({ endpoint: "api", tokens: 10 }).lease?.done();
            return (b.explain("api").global?.rpm ?? 0) >= 1;
          }, "the other hears of it from the store");
          expect(b.status()).toMatchObject({ unpublished: 0, sync: { failures: 0, error: undefined } });
        });
        expect(codes).toEqual([]);
        await until(async () => (await keysOf("prod:swarm:*")) !== "", "they were counted in a roll-call");
        expect(await keysOf("*")).toBe(`${[await keysOf("prod:ratelimit*"), await keysOf("prod:swarm:*")]}`);
      });

      // `ping` and `info` are sent at connect, where Redis answers a user without these rights, too.
      const needed = ["+evalsha", "+eval", "+time", "+hmget", "+hset", "+del", "+pexpire", "~prod:ratelimit:*"];
      test.each(needed)("without %s on Redis a hive keeps working and names the missing right", async (right) => {
        await admin().script("FLUSH");
        await admin().flushall();
        await grant(redisUser.filter((rule) => rule !== right));
        const told = warningsWith("HIVEPACE_SYNC_PARTIAL");
        const hive = await opened(
          createHive({ ...common, agentId: "c", sync: redisSync({ url: redis().url, ...redisLogin }) }),
        );
        const says = () => {
          const { sync, lastStoreFailure } = hive.status();
          return `${sync?.error ?? lastStoreFailure ?? told.join()}`;
        };
        let granted = 0;
        await until(() => {
          const { lease } = hive.tryAcquire({ endpoint: "api", tokens: 1 });
          if (lease) granted++;
          lease?.done();
          return granted > 0 && says() !== "";
        }, "it is told");
        expect(says()).toMatch(
          right.startsWith("~") ? /NOPERM.* keys/ : new RegExp(`(to run the '|right to )${right.slice(1)}\\b`, "i"),
        );
        await grant();
      });
    }),
  { config: natsConfig },
);

describe.skipIf(whyNot("nats", { own: true }) !== undefined)("without one right on NATS", () => {
  test.each(["presence", "capacity"])(
    "to subscribe to %s, no hive is made, and the error says why",
    async (subject) => {
      await using server = await startOwnServer("nats", { config: without("subscribe", subject) });
      const bus = natsBus({ servers: server.url, ...credentials });
      const error: unknown = await createHive({ ...common, agentId: "d", bus }).catch((e: unknown) => e);
      expect(error).toMatchObject({ code: "BUS_UNAVAILABLE" });
      expect(String(error)).toContain(`prod.ratelimit.${subject}`);
    },
  );

  test.each(["presence", "capacity"])("to publish %s, a warning names the subject", async (subject) => {
    await using server = await startOwnServer("nats", { config: without("publish", subject) });
    const told = warningsWith("HIVEPACE_PUBLISH_FAILED");
    const bus = natsBus({ servers: server.url, ...credentials });
    const hive = await opened(createHive({ ...common, agentId: "e", bus, expectedAgents: 1 }));
    for (let i = 0; i < 3; i++)
      (await hive.acquire({ endpoint: "api", tokens: 1, timeoutMs: 20_000 })).refused({ reason: `429 ${i}` });
    await until(() => told.length > 0, "the warning");
    expect(told[0]).toContain(`prod.ratelimit.${subject}`);
    expect(hive.status().lastFailure).toContain(`prod.ratelimit.${subject}`);
  });
});

/** Collects the warnings with this code until the end of the test. */
function warningsWith(code: string): string[] {
  const messages: string[] = [];
  const note = (warning: Error & { code?: string }) => {
    if (warning.code === code) messages.push(warning.message);
  };
  process.on("warning", note);
  closing.push(() => process.off("warning", note));
  return messages;
}

/** Returns the recommended configuration without one right. */
function without(right: "publish" | "subscribe", subject: string): string {
  return natsConfig.replace(new RegExp(`(${right}: { allow: \\[.*?)"prod\\.ratelimit\\.${subject}",?`), "$1");
}

function linesOf({ stdout }: ChildProcess): string[] {
  const lines: string[] = [];
  stdout?.on("data", (chunk: Buffer) => lines.push(...String(chunk).trim().split("\n")));
  return lines;
}
