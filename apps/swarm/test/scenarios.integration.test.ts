import { describe, expect, test } from "vitest";
import type { ScenarioName } from "../src/scenarios.ts";
import { deepCut, play } from "./support/play.ts";

const KEYS = [
  ...["limit", "sent", "accepted", "rejected429", "utilization", "maxWindowRatio", "jain"],
  ...["reductions", "recoveries", "agents", "bus", "scenario", "seed"],
];

const SHORT = ["--duration", "10", "--agents", "4", "--rpm", "50"];
const scenario = (name: ScenarioName) => play(["--scenario", name, ...SHORT]);

describe("on the memory bus, in threads", () => {
  test("cut: a 429 reduces the whole swarm, and it recovers", async () => {
    const { code, out, story, figures } = await play(["--duration", "16", "--agents", "4", "--rpm", "80"], deepCut);
    expect([code, story]).toEqual([0, expect.stringContaining("The limit held")]);
    expect(out).toMatch(/^\{.*\}\n$/);
    expect(Object.keys(figures)).toEqual(KEYS);
    expect(figures).toMatchObject({ bus: "memory", scenario: "cut", seed: 1, agents: 4 });
    expect(figures.rejected429).toBeGreaterThan(0);
    expect(figures.accepted + figures.rejected429).toBe(figures.sent);
    expect(figures.reductions).toBeGreaterThan(0);
    expect(figures.recoveries).toBeGreaterThan(0);
    expect(story).toMatch(
      /the provider cuts the limit to 20 %(.|\n)*got a 429 and told the others: all 4 agents cut back/,
    );
    expect(story).toContain("all 4 agents have their whole limit again");
  });

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
    "%s: the limit does not hold, and the exit code says so",
    async (name) => {
      const { code, story, figures } = await scenario(name);
      expect([code, story]).toEqual([1, expect.stringContaining("The limit was exceeded")]);
      expect(figures.rejected429).toBeGreaterThan(figures.accepted / 20);
      expect(figures.maxWindowRatio).toBeGreaterThan(1.2);
    },
  );
});

describe("a swarm that misbehaves is found out", () => {
  test("agents that do not hear each other exceed the limit", async () => {
    const { code, story } = await play(SHORT, { isSharing: false });
    expect(code).toBe(1);
    expect(story).toContain("The limit was exceeded");
    expect(story).toContain("did not find together");
  });

  test("agents that do not recover are still reduced at the end", async () => {
    const { code, story } = await play(SHORT, { ...deepCut, recoveryIntervalMs: 3_600_000 });
    expect(code).toBe(1);
    expect(story).toContain("The swarm did not recover");
  });
});
