import { inspect } from "node:util";
import { kafkaBus } from "@hivepace/bus-kafka";
import { natsBus } from "@hivepace/bus-nats";
import { redisPubSubBus } from "@hivepace/bus-redis-pubsub";
import { clientVersions } from "@hivepace/redis-client/testing";
import { describeOwnServer } from "@hivepace/servers/vitest";
import { redisSync } from "@hivepace/sync-redis";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openBus } from "./open-bus.ts";

const SECRET = "hunter2";
/** Contains every delimiter of a URL. */
const password = `${SECRET}/${SECRET}?${SECRET}#${SECRET}@${SECRET}:${SECRET}`;
const spellings = [password, encodeURIComponent(password)];
const connectTimeoutMs = 500;

/** Returns everything that a logger could print of a value. */
function everything(value: unknown): string {
  const full = {
    depth: Number.POSITIVE_INFINITY,
    showHidden: true,
    getters: true,
    maxArrayLength: null,
    maxStringLength: null,
  };
  const json = JSON.stringify(value, (_, item: unknown) =>
    item instanceof Error ? { ...item, message: item.message, stack: item.stack, cause: item.cause } : item,
  );
  return `${inspect(value, full)} ${json} ${String((value as Error)?.stack)}`;
}

const warned: unknown[] = [];
const note = (warning: unknown) => warned.push(warning);
beforeAll(() => void process.on("warning", note));
afterAll(async () => {
  await new Promise(setImmediate);
  process.off("warning", note);
  expect(everything(warned)).not.toContain(SECRET);
});

/**
 * Fails unless the attempt rejects with a Hivepace error that does not contain the secret; returns the printed error.
 */
async function failsSilently(attempt: () => Promise<unknown>): Promise<string> {
  const error = await attempt().then(
    () => expect.unreachable("it was expected to fail"),
    (reason: unknown) => reason,
  );
  expect(error).toMatchObject({ code: expect.stringMatching(/^(INVALID_CONFIG|BUS_UNAVAILABLE|SYNC_UNAVAILABLE)$/) });
  const text = everything(error);
  expect(text).not.toContain(SECRET);
  return text;
}

const redisFactories = [
  ["redisPubSubBus", (source: never, options?: object) => redisPubSubBus(source, options as never)],
  ["redisSync", (source: never, options?: object) => redisSync(source, options as never)],
] as const;
const libraries = ["ioredis", "redis"] as const;

describe("with an unreachable address, no error contains the secret", () => {
  test.each(
    ["nats", "tls", "redis", "rediss", "kafka", "kafka+ssl"].flatMap((scheme) =>
      spellings.map((word) => [scheme, word]),
    ),
  )("%s://me:%s@…", async (scheme, word) => {
    await failsSilently(() => openBus(`${scheme}://me:${word}@127.0.0.1:1`, { connectTimeoutMs }));
  });

  test.each(redisFactories)("%s, with every library, by URL, options, Sentinel and Cluster", async (_, open) => {
    const nowhere = { host: "127.0.0.1", port: 1 };
    const login = { username: SECRET, password };
    const places = [
      { url: `redis://me:${password}@127.0.0.1:1/2` },
      { ...nowhere, ...login },
      { sentinels: [nowhere], name: "hive", sentinelPassword: password, ...login },
      { cluster: { nodes: [nowhere] }, ...login },
      { cluster: { nodes: [`redis://me:${password}@127.0.0.1:1`] } },
    ];
    for (const client of libraries)
      for (const place of places) await failsSilently(() => open({ ...place, client, connectTimeoutMs } as never));
  });

  test.each(redisFactories)("%s, with lent clients", async (_, open) => {
    for (const version of clientVersions) {
      const address = { host: "127.0.0.1", port: 1 };
      for (const lent of [version.server(address, { password }), version.cluster([address], { password })]) {
        await failsSilently(() => open(lent.client as never, { connectTimeoutMs }));
        lent.close();
      }
    }
  });
});

describe("with invalid options, no error contains the secret", () => {
  const broken = {
    url: `me:${password}@a`,
    "url with a bad database": `redis://me:${password}@a/x`,
    "a scheme of somebody else": `http://me:${password}@a`,
    "no host": `redis://me:${password}@`,
  };
  const client = Object.assign(clientVersions[2]?.server({ host: "127.0.0.1", port: 1 }, { password }) ?? {});
  afterAll(() => client.close());

  test.each(Object.entries(broken))("an address: %s", async (_, url) => {
    await failsSilently(() => redisPubSubBus({ url }));
    await failsSilently(() => redisSync({ url }));
    await failsSilently(() => redisSync({ cluster: { nodes: [url.replace("/x", ":x")] } }));
    await failsSilently(() => openBus(url.replace("@a", "@a:b")));
    await failsSilently(() => natsBus({ servers: [url.replace("@a", "@a:b")] }));
    await failsSilently(() => kafkaBus({ brokers: [url.replace("@a", "@a:b")] }));
  });

  test("addresses and objects in place of other types", async () => {
    const address = `redis://me:${password}@a`;
    const nested = { options: { password, sasl: { password } }, url: address };
    for (const value of [address, [address], nested, client, () => password]) {
      for (const option of ["waitForBroker", "connectTimeoutMs"] as const) {
        await failsSilently(() => redisPubSubBus({ [option]: value as never }));
        await failsSilently(() => redisSync({ [option]: value as never }));
        await failsSilently(() => natsBus({ servers: "a", [option]: value as never }));
        await failsSilently(() => kafkaBus({ brokers: ["a"], [option]: value as never }));
      }
      await failsSilently(() => redisSync({ sentinels: value as never, name: "" }));
      await failsSilently(() => redisSync({ cluster: { nodes: value as never } })).catch((error) => {
        // An array is a valid list of nodes here, so the call may succeed.
        if (!Array.isArray(value)) throw error;
      });
    }
    await failsSilently(() => redisPubSubBus(address as never));
    await failsSilently(() => redisSync(address as never));
    await failsSilently(() => kafkaBus(address as never));
    await failsSilently(() => kafkaBus({ brokers: ["a"], sasl: { username: SECRET, password } as never }));
    await failsSilently(() => natsBus({ servers: "a", nkey: SECRET }));
    await failsSilently(() => redisSync({ connect: () => {}, options: { password } } as never));
  });
});

describeOwnServer(
  "redis",
  (server) => {
    test.each(spellings)(
      "a password with every special character is accepted, and no error contains a wrong one: %s",
      async (word) => {
        const at = `${server().host}:${server().port}`;
        for (const client of libraries) {
          const url = `redis://default:${word}@${at}/3`;
          await (await redisPubSubBus({ url, client })).close();
          await (await redisSync({ url, client })).close();
          for (const wrong of [`redis://:${word}${SECRET}@${at}`, `redis://${SECRET}:${word}@${at}`])
            for (const [, open] of redisFactories)
              expect(await failsSilently(() => open({ url: wrong, client } as never))).toContain(
                "refused the credentials",
              );
        }
        await (await openBus(`redis://:${word}@${at}`)).close();
      },
    );

    test.each(clientVersions)(
      "no error of a lent client of $version with a wrong password contains the password",
      async (version) => {
        const lent = version.server({ host: server().host, port: server().port }, { password: `${password}${SECRET}` });
        for (const [, open] of redisFactories) await failsSilently(() => open(lent.client as never));
        lent.close();
      },
    );
  },
  { args: ["--requirepass", password] },
);

describeOwnServer(
  "redis",
  (server) => {
    test.each(redisFactories)("arguments that a Redis without AUTH echoes are hidden by %s", async (_, open) => {
      // ioredis continues without a login here.
      const place = { host: server().host, port: server().port, password, client: "redis", connectTimeoutMs };
      expect(await failsSilently(() => open(place as never))).toContain("args beginning with: (hidden)");
    });
  },
  { args: ["--rename-command", "AUTH", ""] },
);

describeOwnServer(
  "nats",
  (server) => {
    test.each(spellings)(
      "a password with every special character is accepted, and no error contains a wrong one: %s",
      async (word) => {
        const at = `${server().host}:${server().port}`;
        await (await openBus(`nats://me:${word}@${at}`)).close();
        await (await natsBus({ servers: [`me:${word}@${at}`] })).close();
        await failsSilently(() => openBus(`nats://me:${word}${SECRET}@${at}`));
        await failsSilently(() => openBus(`nats://${word}@${at}`));
        expect(await failsSilently(() => openBus(`tls://me:${word}@${at}`))).toMatch(/TLS/i);
      },
    );
  },
  { config: `authorization { user: me, password: "${password}" }` },
);
