import { describe, expect, expectTypeOf, test } from "vitest";
import {
  CapacityExhaustedError,
  ClosedError,
  HivepaceError,
  InvalidCapacityError,
  InvalidConfigError,
  InvalidWindowError,
  isHivepaceError,
  ResourceUnknownError,
} from "./errors.ts";

describe("every error has a stable code and is an Error", () => {
  test.each([
    [new ClosedError(), "LIMITER_CLOSED"],
    [new ResourceUnknownError("x"), "RESOURCE_UNKNOWN"],
    [new CapacityExhaustedError("x", "timeout", "waited", 5), "CAPACITY_EXHAUSTED"],
    [new InvalidCapacityError("capacity", "above 0", 0), "INVALID_CAPACITY"],
    [new InvalidWindowError("windowMs", "above 0", 0), "INVALID_WINDOW"],
    [new InvalidConfigError("cost", "above 0", 0), "INVALID_CONFIG"],
  ])("%s", (error, code) => {
    expect(error.code).toBe(code);
    expect(error).toBeInstanceOf(Error);
    expect(error.name).toBe(error.constructor.name);
    expect(isHivepaceError(error)).toBe(true);
    expect(isHivepaceError(error, code)).toBe(true);
    expect(isHivepaceError(error, "SOMETHING_ELSE")).toBe(false);
  });
});

test("an error of another copy of the package is recognised by isHivepaceError and by instanceof", () => {
  class CopyOfHivepaceError extends Error {
    code = "LIMITER_CLOSED";
  }
  const foreign: unknown = Object.defineProperty(new CopyOfHivepaceError(), Symbol.for("hivepace.error"), {
    value: true,
  });
  expect(isHivepaceError(foreign, "LIMITER_CLOSED")).toBe(true);
  expect(foreign).toBeInstanceOf(HivepaceError);
  expect(foreign).toBeInstanceOf(ClosedError);
  expect(foreign).not.toBeInstanceOf(InvalidConfigError);
});

test("a subclass defined by a program matches only its own instances", () => {
  class OwnError extends ClosedError {}
  expect(new OwnError()).toBeInstanceOf(OwnError);
  expect(new OwnError()).toBeInstanceOf(ClosedError);
  expect(new ClosedError()).not.toBeInstanceOf(OwnError);
  class OtherError extends HivepaceError {}
  expect(new OtherError("OTHER", "other")).toBeInstanceOf(HivepaceError);
  expect(new ClosedError()).not.toBeInstanceOf(OtherError);
});

test("instanceof narrows the type", () => {
  const error: unknown = new CapacityExhaustedError("x", "timeout", "waited");
  if (error instanceof CapacityExhaustedError) expectTypeOf(error).toEqualTypeOf<CapacityExhaustedError>();
  if (error instanceof HivepaceError) expectTypeOf(error).toEqualTypeOf<HivepaceError>();
  expect.assertions(0);
});

test.each([undefined, null, "LIMITER_CLOSED", 7, new Error("x"), { code: "LIMITER_CLOSED" }])(
  "a value that is not a Hivepace error is not recognised: %s",
  (value) => {
    expect(isHivepaceError(value)).toBe(false);
  },
);

test("the error of an invalid value names the option, the rule and the value", () => {
  const error = new InvalidConfigError("cost", "a number above 0", Number.NaN);
  expect(error.message).toBe("cost must be a number above 0, got NaN");
  expect(error).toMatchObject({ option: "cost", rule: "a number above 0", value: Number.NaN });
});

test.each([
  ["plain", '"plain"'],
  ["x".repeat(10_000_000), `"${"x".repeat(80)}"… (10000000 characters)`],
  [null, "null"],
  [[1], "an array"],
  [{ toString: () => "!" }, "an object"],
  [() => 1, "a function"],
  [Symbol("s"), "Symbol(s)"],
  [7n, "7n"],
])("a message stays short and calls no method of the value (case %#)", (value, shown) => {
  expect(new InvalidConfigError("x", "y", value).message).toBe(`x must be y, got ${shown}`);
});
