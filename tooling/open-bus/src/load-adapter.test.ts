import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isMissing } from "./import-adapter.ts";
import { fileFrom, loadAdapter } from "./load-adapter.ts";

let project = "";

beforeAll(() => {
  project = mkdtempSync(join(tmpdir(), "hivepace-load-"));
  const folder = join(project, "node_modules/@someone/adapter");
  mkdirSync(folder, { recursive: true });
  const manifest = { name: "@someone/adapter", type: "module", exports: { default: "./index.js" } };
  writeFileSync(join(folder, "package.json"), JSON.stringify(manifest));
  writeFileSync(join(folder, "index.js"), "export const from = 'the project';\n");
});
afterAll(() => rmSync(project, { recursive: true }));

test("a package beside this one is used", async () => {
  await expect(loadAdapter("@hivepace/bus-nats", project)).resolves.toHaveProperty("natsBus");
});

test("otherwise the package of the project in the working directory is used, even if it supports import only", async () => {
  await expect(loadAdapter("@someone/adapter", project)).resolves.toMatchObject({ from: "the project" });
  expect(fileFrom(project, "@someone/adapter")).toBe(join(project, "node_modules/@someone/adapter/index.js"));
});

test("a package installed nowhere is reported missing by its own name", async () => {
  const error = await loadAdapter("@someone/else", project).catch((reason: unknown) => reason);
  expect(isMissing(error, "@someone/else")).toBe(true);
  expect(isMissing(error, "@someone/adapter")).toBe(false);
  expect(fileFrom(project, "@someone/else")).toBeUndefined();
});
