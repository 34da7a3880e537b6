import assert from "node:assert/strict";
import { createRequire } from "node:module";
import * as core from "@hivepace/core";
import type { Step } from "./step.ts";

/** The CommonJS build beside the ES modules. */
export const requireCopy: Step = {
  name: "require() and import",
  async run() {
    const required = createRequire(import.meta.url)("@hivepace/core") as typeof core;
    const limiter = new required.MemoryLimiter();
    assert.throws(() => limiter.setCapacity("api", -1, 1_000), core.InvalidCapacityError);
    await limiter.close();
    assert.equal(required.systemClock, core.systemClock);
    return "both copies share errors and the clock";
  },
};
