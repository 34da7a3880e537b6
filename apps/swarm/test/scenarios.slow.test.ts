import { describe, expect, test } from "vitest";
import type { ScenarioName } from "../src/scenarios.ts";
import { deepCut, play } from "./support/play.ts";

const SHORT = ["--duration", "10", "--agents", "4", "--rpm", "50"];
const scenario = (name: ScenarioName) => play(["--scenario", name, ...SHORT]);

describe("on the memory bus, in threads", () => {
  test.each<[ScenarioName, RegExp, number]>([
    ["calm", /The limit held/, 4],
    ["surge", /The limit held/, 4],
    ["noisy", /The quiet agents got \d+/, 4],
    [
      "churn",
      /agent-\d+ crashes, without a goodbye\n(.|\n)*2 agents join: agent-5 to agent-6\n(.|\n)*know each other/,
      7,
    ],
    [
      "partition",
      /no agent reaches the others any more\n(.|\n)*the agents reach each other again\n(.|\n)*know each/,
      4,
    ],
  ])("%s: the limit holds, and the swarm is whole at the end", async (name, words, agents) => {
    const { code, story, figures } = await scenario(name);
    expect(story).toMatch(words);
    expect([code, figures.scenario, figures.agents]).toEqual([0, name, agents]);
    expect(figures.accepted).toBeGreaterThan(0);
    expect(figures.jain).toBeGreaterThan(0.5);
  });

  test.each<[ScenarioName]>([["without"], ["alone"]])(
    "%s: the exit code says whether the limit held, and the agents were refused",
    async (name) => {
      const { code, story, figures } = await scenario(name);
      // How far the agents get above the limit depends on the machine.
      expect([code, story.includes("The limit was exceeded")]).toEqual(
        figures.maxWindowRatio > 1.2 ? [1, true] : [0, false],
      );
      expect(figures.rejected429).toBeGreaterThan(0);
    },
  );
});

describe("a swarm that misbehaves is found out", () => {
  test("agents that do not hear each other", async () => {
    const { code, story } = await play(SHORT, { isSharing: false });
    expect(code).toBe(1);
    expect(story).toContain("did not find together");
  });

  test("agents that do not recover", async () => {
    const { code, story } = await play(SHORT, { ...deepCut, recoveryIntervalMs: 3_600_000 });
    expect(code).toBe(1);
    expect(story).toContain("The swarm did not recover");
  });
});
