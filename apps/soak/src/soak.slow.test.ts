import { whyNot } from "@hivepace/servers/vitest";
import { describe, expect, test } from "vitest";
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

const SHORT = ["--rounds", "4", "--agents", "3", "--seed", "1"];

// Skipped with the reason where the server cannot be started; CI requires all servers.
describe.skipIf(whyNot("redis", { own: true }) !== undefined)("with redis", () => {
  test("no resource grows or remains in a correct swarm", async () => {
    const { code, text } = await soak(...SHORT, "--faults", "refuse,join-leave,churn", "redis");
    expect(text).toContain("no resource grows or remains, seed 1");
    expect(code, text).toBe(0);
  });

  test("deliberate leaks are detected and named", async () => {
    const leaks = "heap,listener,timer,subscription,key";
    const { code, text } = await soak(...SHORT, "--faults", "churn", "--patience", "2", "--leak", leaks, "redis");
    const failed = text.split("\n").filter((line) => line.startsWith("FAILED"));
    for (const name of [
      "agent-0 memory heap grows",
      "agent-0 listeners abort signal grows",
      "agent-0 handles Timeout grows",
      "broker subscriptions grows",
      "keys without an expiry",
      "processes that did not exit by themselves",
    ])
      expect(failed.join("\n")).toContain(`redis: ${name}`);
    expect(code, text).toBe(1);
  });
});
