import { expect, test } from "vitest";
import { realScenarios } from "../src/testing/scenarios/real.ts";
import { KNOWN_MISSES } from "./cases/real-providers.misses.ts";
import { slug } from "./support/slug.ts";

test("every known miss names a scenario that exists", () => {
  const ids = Object.entries(realScenarios).flatMap(([theme, scenarios]) =>
    scenarios.map(({ name }) => `real-providers/${theme}/${slug(name)}`),
  );
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids).toEqual(expect.arrayContaining(Object.keys(KNOWN_MISSES)));
});
