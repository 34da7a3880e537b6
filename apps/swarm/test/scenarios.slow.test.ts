import { describe, expect, test } from "vitest";
import { pacings } from "../src/rows.ts";
import type { Score } from "../src/run/score.ts";
import { type ScenarioName, scenarios } from "../src/scenarios.ts";
import { play } from "./support/play.ts";

const SHORT = ["--duration", "10", "--agents", "4", "--rpm", "50"];
const scenario = (name: ScenarioName) => play(["--scenario", name, ...SHORT]);

describe("on the memory bus, in threads", () => {
  test.each<[ScenarioName, RegExp, number]>([
    ["calm", /The limit held/, 4],
    ["surge", /The limit held/, 4],
    ["noisy", /The quiet agents got \d+/, 4],
    ["churn", /agent-\d+ crashes\n(.|\n)*2 agents join: agent-5 to agent-6\n(.|\n)*know each other/, 7],
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

  test("with --compare the JSON has all rows, and only Hivepace is judged", async () => {
    const { code, figures, out } = await play(["--scenario", "cut", ...SHORT, "--compare"]);
    expect(code).toBe(0);
    expect(figures.accepted).toBeGreaterThan(0);
    const { rows } = JSON.parse(out) as { rows: readonly Score[] };
    expect(rows.map(({ row }) => row)).toEqual(pacings);
    for (const { utilization } of rows) expect(utilization).toBeGreaterThan(0);
  });
});

describe("the verdict finds a misbehaving swarm", () => {
  test("agents that do not receive each other's messages", async () => {
    const { code, story } = await play(SHORT, { isSharing: false });
    expect(code).toBe(1);
    expect(story).toContain("The membership did not recover");
  });

  test("agents that do not recover", async () => {
    // The provider does not restore its limit, because its headers would end the cut.
    const lasting = { ...scenarios.cut, steps: scenarios.cut.steps.slice(0, 1) };
    const { code, story } = await play(SHORT, { scenario: lasting, recoveryIntervalMs: 3_600_000 });
    expect(code).toBe(1);
    expect(story).toContain("The swarm did not recover");
  });
});
