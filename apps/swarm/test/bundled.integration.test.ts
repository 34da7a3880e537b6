import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { afterEach, expect, test } from "vitest";

const source = (name: string) => fileURLToPath(new URL(`../src/${name}.ts`, import.meta.url));
/** A program like a published command that runs the demo. */
const PROGRAM = `
import { runDemo } from "./index.js";
const { argv, stdout, stderr } = process;
process.exit(await runDemo(argv.slice(2), { stdout, stderr, signal: new AbortController().signal }));
`;
let folder = "";
afterEach(() => rm(folder, { recursive: true, force: true }));

test("the bundled demo finds its agent file next to itself", async () => {
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
  await writeFile(join(folder, "main.js"), PROGRAM);
  const calm = await run("--json", "--scenario", "calm", "--duration", "10", "--agents", "2");
  expect(calm.code, calm.stderr).toBe(0);
  expect(JSON.parse(calm.stdout)).toMatchObject({ scenario: "calm", agents: 2 });

  // No adapter is installed next to the program or in its working directory.
  const { code, stderr } = await run("--json", "--bus", "nats://127.0.0.1:1");
  expect(code).toBe(1);
  expect(stderr).toMatch(
    /^the nats bus is unavailable: .* npm install @hivepace\/bus-nats @nats-io\/transport-node\n$/m,
  );
});

async function run(...args: readonly string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  // Test runners set a path on which every package of this workspace is found.
  const env = { ...process.env, NODE_PATH: "" };
  const child = spawn(process.execPath, ["main.js", ...args], { cwd: folder, env });
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "exit")]);
  return { code, stdout, stderr };
}
