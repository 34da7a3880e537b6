import assert from "node:assert/strict";
import { createRequire } from "node:module";
import * as core from "@hivepace/core";
import type { Step } from "./step.ts";

/** Two copies of a limiter would be two limits. */
export const requireCopy: Step = {
  name: "require() and import",
  async run() {
    const required = createRequire(import.meta.url)("@hivepace/core") as typeof core;
    assert.equal(required.MemoryLimiter, core.MemoryLimiter);
    return "both load the same copy";
  },
};
