import { expect, test } from "vitest";
import { parseRequire } from "../src/require.ts";

test("nothing is required unless HIVEPACE_REQUIRE says so", () => {
  expect(parseRequire(undefined).size).toBe(0);
  expect(parseRequire("").size).toBe(0);
  expect(parseRequire(" , ").size).toBe(0);
});

test("names are separated by commas, spaces do not matter", () => {
  expect([...parseRequire("redis, kafka,chromium")]).toEqual(["redis", "kafka", "chromium"]);
});

test("an unknown name is an error with the known names and the received value", () => {
  expect(() => parseRequire("redis,postgres")).toThrow(
    'HIVEPACE_REQUIRE must list some of redis, nats, kafka, chromium; received "redis,postgres"',
  );
});
