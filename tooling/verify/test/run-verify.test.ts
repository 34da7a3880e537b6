import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { runVerify } from "../src/run-verify.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "hivepace-verify-"));
  await writeFile(join(folder, "package.json"), '{ "type": "module" }');
  await writeFile(
    join(folder, "some.cases.ts"),
    `export const cases = [
      { id: "a/good", seconds: 1, isQuick: true, run: () => ({ figures: { use: 0.99 } }) },
      { id: "b/bad", seconds: 1, run: () => { throw new Error("use is 0.5"); } },
    ];`,
  );
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function run(...args: string[]) {
  let [out, err] = ["", ""];
  const code = await runVerify(["--workers", "1", ...args], {
    root: folder,
    env: {},
    print: (text) => {
      out += `${text}\n`;
    },
    printError: (text) => {
      err += `${text}\n`;
    },
    signal: new AbortController().signal,
  });
  return { code, out, err };
}

const report = async () => JSON.parse(await readFile(join(folder, ".cache/verify/report.json"), "utf8"));

test("when all hold the exit code is 0, and the report has their figures", async () => {
  const { code, out } = await run("--quick");
  expect(code).toBe(0);
  expect(out.trimEnd().split("\n").at(-1)).toBe("1 passed, 0 failed");
  expect(await report()).toMatchObject({
    passed: 1,
    failed: 0,
    outcomes: [{ id: "a/good", result: { figures: { use: 0.99 } } }],
  });
});

test("after a failed case the exit code is 1, and the report has the reason", async () => {
  const { code, out } = await run();
  expect(code).toBe(1);
  expect(out).toContain("FAILED b/bad");
  expect(await report()).toMatchObject({ passed: 1, failed: 1, seed: null });
});

test("a time box prints its seed, and the next one has another", async () => {
  expect((await run("--minutes", "1", "--only", "a/")).out).toContain("seed 1");
  expect((await run("--minutes", "1", "--only", "a/")).out).toContain("seed 2");
});

test("a list runs nothing; a wrong option and a selection of nothing are 2", async () => {
  expect(await run("--list")).toMatchObject({ code: 0, out: "     1 s  a/good\n     1 s  b/bad\n" });
  expect(await run("--only", "c")).toMatchObject({
    code: 2,
    err: "no case matches --only c; --list shows all of them\n",
  });
  expect(await run("--minutes", "x")).toMatchObject({ code: 2, err: expect.stringContaining("--minutes must be") });
});
