import { expect, test } from "vitest";
import { hostText, parseAddress } from "./address.ts";

const blank = { user: undefined, password: undefined, path: "", query: {} };
const at = (host: string, port?: number) => ({ host, port });

test.each([
  ["redis://localhost", { ...blank, scheme: "redis", hosts: [at("localhost")] }],
  [
    "REDISS://me:p%40ss:w@[::1]:6380/2?family=6",
    { scheme: "rediss", hosts: [at("::1", 6380)], user: "me", password: "p@ss:w", path: "2", query: { family: "6" } },
  ],
  [
    "redis://:p/a?s#s@w/d@a:1/0",
    { ...blank, scheme: "redis", hosts: [at("a", 1)], password: "p/a?s#s@w/d", path: "0" },
  ],
  ["nats://token@a,b:2", { ...blank, scheme: "nats", hosts: [at("a"), at("b", 2)], user: "token" }],
  ["redis://me:@a", { ...blank, scheme: "redis", hosts: [at("a")], user: "me", password: "" }],
  [
    "kafka+ssl://me:100%25%zz%ff@a",
    { ...blank, scheme: "kafka+ssl", hosts: [at("a")], user: "me", password: "100%%zz%ff" },
  ],
])("%s is split into its parts", (text, address) => {
  expect(parseAddress(text)).toEqual(address);
});

test.each([
  "",
  "a:1",
  "redis:a",
  "redis://",
  "redis://a,,b",
  "redis://a:0",
  "redis://a:65536",
  "redis://a:b",
  "redis://a b",
])("%j is not an address", (text) => {
  expect(parseAddress(text)).toBeUndefined();
});

test("hostText formats a host as in a URL", () => {
  expect([hostText(at("a"), 1), hostText(at("::1", 2), 1)]).toEqual(["a:1", "[::1]:2"]);
});
