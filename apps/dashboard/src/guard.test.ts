import { hostname } from "node:os";
import { describe, expect, test } from "vitest";
import { isOurHost, refusalOf } from "./guard.ts";

const LOCAL = "127.0.0.1";

test.each([
  ["localhost:4400", LOCAL, true],
  ["LOCALHOST", LOCAL, true],
  ["127.0.0.1:4400", LOCAL, true],
  ["127.0.0.1:9", LOCAL, true],
  ["[::1]:4400", LOCAL, true],
  ["evil.example:4400", LOCAL, false],
  ["localhost.evil.example", LOCAL, false],
  ["127.0.0.1.evil.example", LOCAL, false],
  ["192.168.1.5:4400", LOCAL, false],
  ["", LOCAL, false],
  [undefined, LOCAL, false],
  ["evil@localhost", LOCAL, false],
  ["localhost/evil", LOCAL, false],
  ["localhost localhost", LOCAL, false],
  ["[::1", LOCAL, false],
  ["dash.internal:80", "dash.internal", true],
  ["other.internal:80", "dash.internal", false],
  ["192.168.1.5:4400", "192.168.1.5", true],
  ["192.168.1.5:4400", "0.0.0.0", true],
  ["[fe80::1]:4400", "::", true],
  [`${hostname()}:4400`, "0.0.0.0", true],
  ["evil.example", "0.0.0.0", false],
  ["evil.example", "::", false],
])("called %s, listening on %s: %s", (header, host, isOurs) => {
  expect(isOurHost(header, host)).toBe(isOurs);
});

describe("a request that changes something", () => {
  const good = {
    host: "localhost:4400",
    origin: "http://localhost:4400",
    "content-type": "application/json",
    "x-hivepace-token": "secret",
  };

  test("is accepted from the dashboard's own page", () => {
    expect(refusalOf(good, "secret")).toBeUndefined();
    expect(refusalOf({ ...good, "sec-fetch-site": "same-origin" }, "secret")).toBeUndefined();
    expect(refusalOf({ ...good, origin: "https://localhost:4400" }, "secret")).toBeUndefined();
    expect(refusalOf({ ...good, "content-type": "application/json; charset=utf-8" }, "secret")).toBeUndefined();
  });

  test.each([
    ["no origin", { origin: undefined }],
    ["an opaque origin", { origin: "null" }],
    ["another site", { origin: "http://evil.example" }],
    ["another port", { origin: "http://localhost:80" }],
    ["a site that ends like ours", { origin: "http://evil-localhost:4400" }],
    ["a fetch from a sister site", { "sec-fetch-site": "same-site" }],
    ["a form", { "content-type": "application/x-www-form-urlencoded" }],
    ["no type", { "content-type": undefined }],
    ["no token", { "x-hivepace-token": undefined }],
    ["a wrong token", { "x-hivepace-token": "secreu" }],
    ["the beginning of the token", { "x-hivepace-token": "sec" }],
    ["two tokens", { "x-hivepace-token": ["secret", "secret"] }],
  ])("is refused: %s", (_, change) => {
    expect(refusalOf({ ...good, ...change }, "secret")).toEqual(expect.any(String));
  });
});
