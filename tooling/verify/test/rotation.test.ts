import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { nextSeed, rememberSeed } from "../src/rotation.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "hivepace-rotation-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

test("each run continues after the one before it", () => {
  const file = join(folder, "cache", "last-seed");
  rememberSeed(file, 41);
  expect(nextSeed(file, folder, { GITHUB_RUN_NUMBER: "7" })).toBe(42);
});

test("a new checkout starts with the number of the workflow's run, or else of commits, or else with 1", () => {
  const file = join(folder, "last-seed");
  expect(nextSeed(file, folder, { GITHUB_RUN_NUMBER: "7" })).toBe(7);
  expect(nextSeed(file, folder, {})).toBe(1);
});
