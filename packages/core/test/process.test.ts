import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";

/** Runs a program on the package's source in a process of its own, as a user's program would run. */
async function run(program: string): Promise<string> {
  const core = new URL("../src/index.ts", import.meta.url).href;
  const args = [
    "--import",
    "tsx",
    "--input-type=module",
    "--eval",
    `import * as core from ${JSON.stringify(core)};\n${program}`,
  ];
  const cwd = fileURLToPath(new URL(".", import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd });
  return stdout.trim();
}

test("a script that awaits acquire receives its token and then exits by itself", async () => {
  const output = await run(`
    const limiter = new core.MemoryLimiter();
    limiter.setCapacity("api", 1, 50);
    await limiter.acquire("api");
    await limiter.acquire("api");
    console.log("got both");
  `);
  expect(output).toBe("got both");
});

test("a limiter without waiters does not keep the process alive, and neither does its sweep", async () => {
  const output = await run(`
    const limiter = new core.MemoryLimiter({ capacityFor: () => ({ capacity: 1, windowMs: 3_600_000 }) });
    limiter.tryAcquire("a");
    console.log("done");
  `);
  expect(output).toBe("done");
});
