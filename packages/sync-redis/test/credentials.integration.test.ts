import { clientVersions, Opened } from "@hivepace/redis-client/testing";
import { describeOwnServer } from "@hivepace/servers/vitest";
import { until } from "@hivepace/test-kit";
import { Redis } from "ioredis";
import { afterEach, describe, expect, test } from "vitest";
import { redisSync } from "../src/index.ts";
import { present } from "./helpers.ts";

const opened = new Opened();
afterEach(opened.close);

const refused = { code: "SYNC_UNAVAILABLE", message: expect.stringContaining("refused the credentials") };
const eu = { kind: "endpoint", id: "eu" };

describeOwnServer(
  "redis",
  (server) => {
    const admin = () => opened.client(new Redis(server().url, { password: "secret" }));
    const at = () => ({ host: server().host, port: server().port });

    describe.each([
      ["a wrong password", { password: "wrong" }],
      ["no password", {}],
      ["an unknown user", { username: "nobody", password: "secret" }],
    ])("%s", (_, credentials) => {
      test.each([
        ["ioredis", false],
        ["ioredis", true],
        ["redis", false],
        ["redis", true],
      ] as const)("is refused at once through %s (waitForBroker: %s)", async (client, waitForBroker) => {
        const settings = { client, waitForBroker, connectTimeoutMs: 60_000 };
        await expect(redisSync({ ...at(), ...credentials, ...settings })).rejects.toMatchObject(refused);
      });

      test.each(clientVersions)("is refused with a client of $version", async (version) => {
        const client = opened.lend(version.server(at(), credentials));
        await expect(redisSync(client, { connectTimeoutMs: 60_000 })).rejects.toMatchObject(refused);
      });
    });

    test.each(["ioredis", "redis"] as const)(
      "the rights named in the README suffice, and other keys are refused (%s)",
      async (client) => {
        const rights = ["+evalsha", "+eval", "+time", "+hmget", "+hset", "+del", "+pexpire", "+ping", "+info"];
        await admin().call("ACL", "SETUSER", "agent", "reset", "on", ">pass", "~prod:ratelimit*", ...rights);
        const store = await opened.open(redisSync({ ...at(), client, username: "agent", password: "pass" }));
        const report = await present(store, { namespace: "prod", windowMs: 200, agentId: client });
        const count = { of: eu, requests: 1, tokens: 1 };
        // The loop spans several windows, so that a hash of an earlier window is replaced too.
        let [sequence, last, windows] = [2, report.window, 0];
        while (windows < 3) {
          const { window, sums } = await store.sync({ ...report, window: last, sequence: sequence++, counts: [count] });
          expect(sums[0]?.error).toBeUndefined();
          if (window !== last) windows++;
          last = window;
        }
        const other = await store.sync({ ...report, namespace: "other", counts: [count] }).catch((error) => error);
        expect(other).toMatchObject({ code: "SYNC_UNAVAILABLE", message: expect.stringMatching(/NOPERM|permission/i) });
      },
    );

    test.each(["ioredis", "redis"] as const)(
      "revoked credentials are reported, and work again once restored (%s)",
      async (client) => {
        const redis = admin();
        const give = () => redis.call("ACL", "SETUSER", "leaver", "reset", "on", ">pass", "~*", "+@all");
        await give();
        const store = await opened.open(redisSync({ ...at(), client, username: "leaver", password: "pass" }));
        const report = await present(store, { namespace: `withdrawn-${client}` });
        await redis.call("ACL", "DELUSER", "leaver");
        // The first sync notices the lost connection; a later one is refused a new connection.
        await until(async () => {
          const error = await store.sync({ ...report, sequence: 2 }).then(() => undefined, String);
          return error?.includes("refused the credentials") ?? false;
        }, "the credentials are refused");
        await give();
        expect(await store.sync({ ...report, sequence: 4, watched: [eu] })).toMatchObject({ sums: [{ requests: 0 }] });
      },
    );
  },
  { args: ["--requirepass", "secret"] },
);
