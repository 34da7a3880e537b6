import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { answerOf, startWorker } from "@hivepace/test-kit";
import { expect, test } from "vitest";
import { resolveNamespace } from "../src/resolve-namespace.ts";

const child = new URL("child.worker.ts", import.meta.url);

test("child processes of a test run have its namespace", async () => {
  const mine = resolveNamespace();
  expect(mine.source).toBe("test run");
  const args = ["--conditions", "@hivepace/source", "--import", "tsx", fileURLToPath(child)];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  expect(JSON.parse(stdout)).toEqual(mine);
});

test("worker threads of a test run have its namespace", async () => {
  const mine = resolveNamespace();
  const worker = await startWorker(child);
  expect(await answerOf(worker)).toEqual(mine);
  await worker.terminate();
});
