import { describeOwnServer } from "@hivepace/servers/vitest";
import { until } from "@hivepace/test-kit";
import { Redis } from "ioredis";
import { afterEach, describe, expect, test } from "vitest";
import { redisSync } from "../src/index.ts";
import { Opened, present, versions } from "./helpers.ts";

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
      test.each([false, true])("is refused at once (waitForBroker: %s)", async (waitForBroker) => {
        const settings = { waitForBroker, connectTimeoutMs: 60_000 };
        await expect(redisSync({ ...at(), ...credentials, ...settings })).rejects.toMatchObject(refused);
      });

      test.each(versions)("is refused to a client of $version", async ({ Redis: Client }) => {
        const client = opened.client(new Client(server().url, { ...credentials, retryStrategy: () => 1_000 }));
        await expect(redisSync(client, { connectTimeoutMs: 60_000 })).rejects.toMatchObject(refused);
      });
    });

    test("a user with the rights that the README names may do all, and nothing with other keys", async () => {
      const rights = ["+evalsha", "+eval", "+time", "+hmget", "+hset", "+del", "+pexpire", "+ping", "+info"];
      await admin().call("ACL", "SETUSER", "agent", "reset", "on", ">pass", "~prod:ratelimit*", ...rights);
      const store = await opened.store(redisSync({ ...at(), username: "agent", password: "pass" }));
      const report = await present(store, { namespace: "prod", windowMs: 200 });
      const count = { of: eu, requests: 1, tokens: 1 };
      // Through two windows, so that a hash of the one before is replaced, too.
      let [sequence, last, windows] = [2, report.window, 0];
      while (windows < 3) {
        const { window, sums } = await store.sync({ ...report, window: last, sequence: sequence++, counts: [count] });
        expect(sums[0]?.error).toBeUndefined();
        if (window !== last) windows++;
        last = window;
      }
      const other = await store.sync({ ...report, namespace: "other", counts: [count] }).catch((error) => error);
      expect(other).toMatchObject({ code: "SYNC_UNAVAILABLE", message: expect.stringMatching(/NOPERM|permission/i) });
    });

    test("credentials that are withdrawn are told, and work again when they are given back", async () => {
      const redis = admin();
      const give = () => redis.call("ACL", "SETUSER", "leaver", "reset", "on", ">pass", "~*", "+@all");
      await give();
      const store = await opened.store(redisSync({ ...at(), username: "leaver", password: "pass" }));
      const report = await present(store);
      await redis.call("ACL", "DELUSER", "leaver");
      // The first notices that the connection is gone, the next is refused a new one.
      await until(async () => {
        const error = await store.sync({ ...report, sequence: 2 }).then(() => undefined, String);
        return error?.includes("refused the credentials") ?? false;
      }, "it is refused");
      await give();
      expect(await store.sync({ ...report, sequence: 4, watched: [eu] })).toMatchObject({ sums: [{ requests: 0 }] });
    });
  },
  { args: ["--requirepass", "secret"] },
);
