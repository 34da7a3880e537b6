import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { bundled } from "./support/program.ts";

const run = async (what: string) => {
  const { stdout } = await promisify(execFile)(process.execPath, [await bundled("alive"), what]);
  return stdout.trim();
};

test("a script that awaits acquire gets its token, though nothing else keeps the process alive", async () => {
  expect(await run("acquire")).toBe("granted");
});

test("a limiter without waiters does not keep the process alive", async () => {
  expect(await run("idle")).toBe("idle");
});
