import { inspect } from "node:util";
import { expect, test } from "vitest";
import { readServers } from "./servers.ts";

test.each([
  ["localhost", { servers: ["localhost:4222"] }],
  [["a:1", "nats://b"], { servers: ["a:1", "b:4222"] }],
  ["nats://a,b:2", { servers: ["a:4222", "b:2"] }],
  ["tls://[::1]:1", { servers: ["[::1]:1"], tls: {} }],
  ["nats://me:p%40s/s:w@a", { servers: ["a:4222"], user: "me", pass: "p@s/s:w" }],
  [["nats://a", "nats://me:pass@b"], { servers: ["a:4222", "b:4222"], user: "me", pass: "pass" }],
  ["nats://token@a", { servers: ["a:4222"], token: "token" }],
  ["me:pass@a", { servers: ["a:4222"], user: "me", pass: "pass" }],
])("%j is parsed", (given, servers) => {
  expect(readServers(given)).toEqual(servers);
});

test.each(["", [], [""], "http://me:hunter2@a", ["nats://me:hunter2@"], 7, undefined])(
  "%j is rejected with an error that does not contain the password",
  (given) => {
    try {
      readServers(given);
      expect.unreachable();
    } catch (error) {
      expect(error).toMatchObject({ code: "INVALID_CONFIG", option: "servers" });
      expect(inspect({ ...(error as object), text: String(error) })).not.toContain("hunter2");
    }
  },
);
