import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { build } from "esbuild";
import { expect, test } from "vitest";

const folder = new URL("programs/", import.meta.url);

test.each(readdirSync(folder))("%s prints what it says that it prints", async (file) => {
  const expected = readFileSync(new URL(file, folder), "utf8").match(/\/\* Output:\n([\s\S]*?)\n?\*\//)?.[1];
  const outfile = fileURLToPath(new URL(`../.cache/programs/${file.replace(/ts$/, "mjs")}`, import.meta.url));
  await build({
    entryPoints: [fileURLToPath(new URL(file, folder))],
    outfile,
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20",
    conditions: ["@hivepace/source"],
    external: ["openai", "@anthropic-ai/sdk", "ai", "@ai-sdk/openai", "@aws-sdk/client-bedrock-runtime"],
  });
  const { stdout } = await promisify(execFile)(process.execPath, [outfile]);
  expect(stdout.trimEnd()).toBe(expected);
});
