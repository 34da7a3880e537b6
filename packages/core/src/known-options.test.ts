import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { checkKnown, nearestOf } from "./known-options.ts";

const KNOWN = { id: true, model: true, rpmLimit: true, tpmLimit: true, maxInFlight: true } as const;

describe("unknown options", () => {
  test.each([
    ["rpm", "rpmLimit"],
    ["rpm_limit", "rpmLimit"],
    ["RPMLimit", "rpmLimit"],
    ["tpmLimits", "tpmLimit"],
    ["maxInFligth", "maxInFlight"],
    ["modell", "model"],
  ])("%s is rejected with %s as the suggested name", (name, meant) => {
    expect(() => checkKnown({ id: "a", [name]: 60 }, KNOWN, "endpoints[0].")).toThrow(
      `endpoints[0].${name} must be an option that exists (did you mean ${meant}?), got 60`,
    );
  });

  test("a name unlike any option is rejected with the list of options", () => {
    expect(() => checkKnown({ colour: "red" }, KNOWN)).toThrow(
      'colour must be an option that exists (they are id, model, rpmLimit, tpmLimit, maxInFlight), got "(hidden)"',
    );
  });

  test("known options and undefined ones are accepted", () => {
    expect(() => checkKnown({ id: "a", rpmLimit: 1, nonsense: undefined }, KNOWN)).not.toThrow();
  });

  test("names of Object.prototype are not options", () => {
    expect(() => checkKnown({ toString: 1 }, KNOWN)).toThrow("toString must be an option that exists");
  });

  test("the nearest name of a known name is the name itself", () => {
    const names = fc.uniqueArray(fc.stringMatching(/^[a-z]{1,12}$/), { minLength: 1 });
    fc.assert(fc.property(names, (known) => known.every((name) => nearestOf(name, known) === name)));
  });
});
