import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { discover } from "../src/discover.ts";
import { WorkerPool } from "../src/worker-pool.ts";

const CASES = `
export const cases = [
  { id: "good", seconds: 1, run: () => ({ summary: "fine", figures: { pid: process.pid } }) },
  { id: "throws", seconds: 1, run: () => { console.log("some words"); throw new RangeError("too large"); } },
  { id: "dies", seconds: 1, run: () => process.exit(3) },
  { id: "hangs", seconds: 1, run: () => new Promise(() => setInterval(() => {}, 1_000)) },
];`;

let folder: string;
let pool: WorkerPool;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "hivepace-verify-"));
  await writeFile(join(folder, "package.json"), '{ "type": "module" }');
  await writeFile(join(folder, "some.cases.ts"), CASES);
  pool = new WorkerPool(folder);
});
afterEach(async () => {
  pool.close();
  await rm(folder, { recursive: true, force: true });
});

const run = async (id: string) => {
  const found = (await discover(folder)).find((each) => each.id === id);
  if (!found) throw new Error(`there is no case ${id}`);
  return pool.run(found);
};

test("cases run in another process, one after the other in the same", async () => {
  const [first, second] = [await run("good"), await run("good")];
  expect(first).toMatchObject({ id: "good", result: { summary: "fine" } });
  expect(first.result?.figures?.["pid"]).not.toBe(process.pid);
  expect(second.result?.figures).toEqual(first.result?.figures);
});

test("an error is reported with its stack, and the output of the case is in the log", async () => {
  const { error, logFile } = await run("throws");
  expect(error).toMatch(/^RangeError: too large\n +at .*some\.cases\.ts/);
  expect(await readFile(logFile, "utf8")).toContain("=== throws\nsome words");
});

test("a worker that dies fails its case, and the next case has a new one", async () => {
  expect((await run("dies")).error).toBe("the worker process ended with exit code 3 while it ran this case");
  expect(await run("good")).toMatchObject({ result: { summary: "fine" } });
});

test("close ends a case that never would", async () => {
  const hangs = run("hangs");
  await run("good");
  pool.close();
  expect((await hangs).error).toBe("the worker process ended with SIGKILL while it ran this case");
});

test("two cases with one id are an error that names both files", async () => {
  await writeFile(join(folder, "more.cases.ts"), CASES);
  await expect(discover(folder)).rejects.toThrow(
    /the case good exists twice, in .*more\.cases\.ts and in .*some\.cases\.ts/,
  );
});
