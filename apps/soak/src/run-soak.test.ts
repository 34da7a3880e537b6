import { expect, test } from "vitest";
import { runSoak } from "./run-soak.ts";

async function soak(...args: string[]): Promise<{ code: number; text: string }> {
  let text = "";
  const stream = {
    write: (more: string) => {
      text += more;
    },
  };
  const code = await runSoak(args, { stdout: stream, stderr: stream, signal: new AbortController().signal });
  return { code, text };
}

test("an invalid option prints its error and the usage, and exits with 2", async () => {
  const { code, text } = await soak("--rounds", "many");
  expect(code).toBe(2);
  expect(text).toContain('--rounds must be a whole number from 4 on, not "many"\n\nswarm:soak [options]');
});
