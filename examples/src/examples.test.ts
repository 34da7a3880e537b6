import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { build } from "esbuild";
import { expect, test } from "vitest";

const here = fileURLToPath(new URL(".", import.meta.url));
const programs = readdirSync(here).filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts"));

test.each(programs)("%s prints what it says that it prints", { timeout: 60_000 }, async (file) => {
  const expected = readFileSync(new URL(file, import.meta.url), "utf8").match(/\/\* Output:\n([\s\S]*?)\n?\*\//)?.[1];
  // As JavaScript, which also a worker thread can start from.
  const outfile = fileURLToPath(new URL(`../.cache/${file.replace(/ts$/, "mjs")}`, import.meta.url));
  await build({
    entryPoints: [here + file],
    outfile,
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20",
    conditions: ["@hivepace/source"],
  });
  const { stdout } = await promisify(execFile)(process.execPath, [outfile], { timeout: 50_000 });
  expect(stdout.trimEnd()).toBe(expected);
});
