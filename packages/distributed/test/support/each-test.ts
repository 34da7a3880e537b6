import { afterEach, beforeEach, expect } from "vitest";
import { TestHives } from "./hives.ts";
import { collectWarnings } from "./warnings.ts";

/** The hives and the warnings of one test. */
export interface EachTest {
  readonly hives: TestHives;
  readonly warnings: ReturnType<typeof collectWarnings>;
}

/** Gives every test of the calling file hives of its own; they must leave no timer behind. */
export function eachTest(): EachTest {
  let hives: TestHives;
  let warnings: ReturnType<typeof collectWarnings>;
  beforeEach(() => {
    hives = new TestHives();
    warnings = collectWarnings();
  });
  afterEach(async () => {
    await hives.close();
    warnings.stop();
    expect(hives.clock.pending).toBe(0);
  });
  return {
    get hives() {
      return hives;
    },
    get warnings() {
      return warnings;
    },
  };
}
