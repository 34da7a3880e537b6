import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";
import { afterEach, expect, test } from "vitest";
import type { runDemo } from "../src/index.ts";

const source = (name: string) => fileURLToPath(new URL(`../src/${name}.ts`, import.meta.url));
let folder = "";
afterEach(() => rm(folder, { recursive: true, force: true }));

test("as plain JavaScript, as a command is published, it finds its agent beside itself", async () => {
  folder = await mkdtemp(join(tmpdir(), "hivepace-demo-"));
  await build({
    entryPoints: { index: source("index"), agent: source("agent") },
    outdir: folder,
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node20",
    conditions: ["@hivepace/source"],
    external: ["@hivepace/bus-*"],
    logLevel: "error",
  });
  await writeFile(join(folder, "package.json"), '{ "type": "module" }');
  const bundled = (await import(pathToFileURL(join(folder, "index.js")).href)) as { runDemo: typeof runDemo };
  const [out, err]: [string[], string[]] = [[], []];
  const world = {
    stdout: { write: (text: string) => out.push(text) },
    stderr: { write: (text: string) => err.push(text) },
    signal: new AbortController().signal,
  };
  expect(await bundled.runDemo(["--json", "--scenario", "calm", "--duration", "10", "--agents", "2"], world)).toBe(0);
  expect(JSON.parse(out.join(""))).toMatchObject({ scenario: "calm", agents: 2 });

  // No adapter stands beside it.
  expect(await bundled.runDemo(["--json", "--bus", "nats://127.0.0.1:1"], world)).toBe(1);
  expect(err.at(-1)).toMatch(
    /^the nats bus is unavailable: .* npm install @hivepace\/bus-nats @nats-io\/transport-node\n$/,
  );
});
