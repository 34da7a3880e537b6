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

// Where no such server can be started, `whyNot` says why; CI requires them all.
describe.skipIf(whyNot("redis", { own: true }) !== undefined)("with redis", () => {
  test("nothing grows and nothing is left in a swarm that is well made", async () => {
    const { code, text } = await soak(...SHORT, "--faults", "refuse,join-leave,churn", "redis");
    expect(text).toContain("nothing grows and nothing is left, seed 1");
    expect(code, text).toBe(0);
  });

  test("what is left behind on purpose is found, by its name", async () => {
    const leaks = "heap,listener,timer,subscription,key";
    const { code, text } = await soak(...SHORT, "--faults", "churn", "--patience", "2", "--leak", leaks, "redis");
    const failed = text.split("\n").filter((line) => line.startsWith("FAILED"));
    for (const name of [
      "agent-0 memory heap grows",
      "agent-0 listeners abort signal grows",
      "agent-0 handles Timeout grows",
      "broker subscriptions grows",
      "keys without an end",
      "processes that did not end by themselves",
    ])
      expect(failed.join("\n")).toContain(`redis: ${name}`);
    expect(code, text).toBe(1);
  });
});
