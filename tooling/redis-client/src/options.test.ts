import { inspect } from "node:util";
import { expect, test } from "vitest";
import type { RedisPlaceOptions } from "../types.ts";
import { redisPlace } from "./options.ts";

const nobody = { username: undefined, password: undefined, db: undefined };

test.each([
  ["redis://a", { host: "a", port: 6379 }, nobody, undefined],
  ["rediss://me:p%40ss:w@[::1]:6380/2", { host: "::1", port: 6380 }, { username: "me", password: "p@ss:w", db: 2 }, {}],
  ["redis://:pa/ss?w#o@rd@a:1/0", { host: "a", port: 1 }, { ...nobody, password: "pa/ss?w#o@rd", db: 0 }, undefined],
  ["redis://me@a", { host: "a", port: 6379 }, { ...nobody, username: "me" }, undefined],
])("%s is parsed into server, login and TLS", (url, server, login, tls) => {
  expect(redisPlace({ url })).toMatchObject({ server, login, tls });
});

test("options take precedence over the URL, and the query of a URL goes to the library", () => {
  const place = redisPlace({ url: "redis://me:secret@a/1?family=6", username: "other", db: 3, tls: { ca: "x" } });
  expect(place).toMatchObject({ login: { username: "other", password: "secret", db: 3 }, tls: { ca: "x" } });
  expect(place.others).toEqual({ family: "6" });
});

test("the nodes of a Cluster are addresses or URLs, and the first URL may contain login and TLS", () => {
  const { cluster, login, tls } = redisPlace({
    cluster: { nodes: ["rediss://me:secret@a:1", "b", { host: "c", port: 3 }], x: 1 },
  });
  expect(cluster).toEqual({
    nodes: [
      { host: "a", port: 1 },
      { host: "b", port: 6379 },
      { host: "c", port: 3 },
    ],
    others: { x: 1 },
  });
  expect([login.username, login.password, tls]).toEqual(["me", "secret", {}]);
});

test("unknown options go to the library", () => {
  expect(redisPlace({ host: "a", keepAlive: 5 })).toMatchObject({
    server: { host: "a", port: 6379 },
    others: { keepAlive: 5 },
  });
  expect(redisPlace({ sentinels: [{ host: "a" }], name: "hive", sentinelPassword: "s" }).sentinel).toEqual({
    sentinels: [{ host: "a", port: 26379 }],
    name: "hive",
    username: undefined,
    password: "s",
  });
});

test.each([
  ["url", { url: "hunter2@localhost" }],
  ["url", { url: "http://me:hunter2@a" }],
  ["url", { url: "redis://me:hunter2@a,b" }],
  ["url", { url: "redis://me:hun/ter2@a/x" }],
  ["db", { db: -1 }],
  ["client", { client: "hunter2://@" }],
  ["cluster.nodes", { cluster: { nodes: ["redis://me:hunter2@:"] } }],
  ["host", { host: 7 }],
])("an invalid %s is rejected with an error that names the option but contains no password", (option, options) => {
  try {
    redisPlace(options as RedisPlaceOptions);
    expect.unreachable();
  } catch (error) {
    expect(error).toMatchObject({ code: "INVALID_CONFIG", option });
    expect(inspect(error, { depth: 9, showHidden: true }).split("at ")[0]).not.toMatch(/hunter2@|hun\/ter2/);
  }
});
