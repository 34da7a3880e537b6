import { expect, test } from "vitest";
import { ownId } from "./config.ts";

test("the default agent id names the host and the process, and is never the same twice", () => {
  expect(ownId(() => "worker-7")).toMatch(new RegExp(`^worker-7-${process.pid}-[0-9a-f]{8}$`));
  expect(ownId()).not.toBe(ownId());
});

test("a runtime that refuses the name of the host does not keep a hive from starting", () => {
  const refuse = (): string => {
    throw new Error('Requires sys access to "hostname"');
  };
  expect(ownId(refuse)).toMatch(new RegExp(`^host-${process.pid}-[0-9a-f]{8}$`));
});

test("the name of a host is cut to the length that an id may have", () => {
  expect(ownId(() => "h".repeat(1_000)).length).toBeLessThanOrEqual(200);
});
