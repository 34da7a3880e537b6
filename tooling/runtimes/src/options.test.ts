import { expect, test } from "vitest";
import { parseOptions } from "./options.ts";
import { runtimes } from "./runtimes.ts";

test("without options everything runs on every runtime", () => {
  expect(parseOptions([])).toEqual({ action: "run", runtimes, hasUnitTests: true, hasSmoke: true });
});

test("--only takes ids, separated by commas", () => {
  const { runtimes: chosen } = parseOptions(["--only", "node-22, bun"]);
  expect(chosen.map(({ id }) => id)).toEqual(["node-22", "bun"]);
});

test("--no-unit leaves the smoke program", () => {
  expect(parseOptions(["--no-unit"])).toMatchObject({ action: "run", hasUnitTests: false });
});

test("--no-smoke leaves the unit tests", () => {
  expect(parseOptions(["--no-smoke"])).toMatchObject({ hasUnitTests: true, hasSmoke: false });
});

test.each(["list", "outdated", "help"])("--%s is an action of its own", (action) => {
  expect(parseOptions([`--${action}`])).toMatchObject({ action });
});

test.each([[["--onyl", "bun"]], [["bun"]], [["--only"]], [["--only", ""]], [["--only", "node-8"]]])(
  "%j is refused",
  (args) => {
    expect(() => parseOptions(args)).toThrow(RangeError);
  },
);
