import { spawn } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const source = fileURLToPath(new URL("../src", import.meta.url));

const CONFIG = `export default { test: {
  reporters: ["default", ${JSON.stringify(join(source, "repeat-reporter.ts"))}],
  setupFiles: ${JSON.stringify(join(source, "vitest-setup.ts"))},
  execArgv: ["--no-warnings"],
  isolate: false,
  maxWorkers: 1,
  sequence: { sequencer: class { shard = (files) => files; sort = (files) => files.toSorted((a, b) => a.moduleId.localeCompare(b.moduleId)); } },
} };`;

const TESTS = `import { expect, test } from "vitest";
test("warns and passes", () => process.emitWarning("expected here", { code: "QUIET" }));
test("warns and fails (1.5 s)", async () => {
  process.emitWarning("the reason", { code: "LOUD" });
  await new Promise((resolve) => setTimeout(resolve));
  expect(1).toBe(2);
});
test("hangs", { timeout: 10 }, () => new Promise(() => {}));
test("comes after it", () => console.log(["was", "run"].join("-")));
`;
const NEXT_TESTS = `import { test } from "vitest";
test("comes after it in the same process", () => console.log(["was", "run"].join("-")));
`;

/** Returns Vitest's output for these test files, with this setup file and reporter. */
async function outputOf(...files: string[]): Promise<string> {
  await mkdir(join(root, ".cache"), { recursive: true });
  const folder = await mkdtemp(join(root, ".cache/vitest-setup-"));
  try {
    await writeFile(join(folder, "vitest.config.mjs"), CONFIG);
    for (const [i, tests] of files.entries()) await writeFile(join(folder, `${i}.test.mjs`), tests);
    const args = [join(root, "node_modules/vitest/vitest.mjs"), "run", "--root", folder];
    const env = { ...process.env, NO_COLOR: "1", FORCE_COLOR: undefined };
    const child = spawn(process.execPath, args, { cwd: folder, env });
    let output = "";
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (text: string) => {
        output += text;
      });
    await new Promise((resolve) => child.once("close", resolve));
    return output;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

test("only failures show warnings, no test runs after a timeout, and every failure has its command", async () => {
  const output = await outputOf(TESTS, NEXT_TESTS);
  expect(output).toContain("[LOUD] Warning: the reason");
  expect(output).not.toContain("expected here");
  expect(output).not.toContain("was-run");
  expect(output).toMatch(/2 failed \| 1 passed \| 2 skipped/);
  expect(output).toContain("To repeat only the failed tests:\n");
  expect(output).toContain(`0.test.mjs -t '^warns and fails \\(1\\.5 s\\)$'`);
});
