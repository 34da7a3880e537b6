import { expect, test } from "vitest";
import { deepCut, play } from "./support/play.ts";

const KEYS = [
  ...["limit", "speed", "sent", "accepted", "rejected429", "utilization", "maxWindowRatio", "jain"],
  ...["reductions", "recoveries", "agents", "bus", "scenario", "seed"],
  ...["tasksFinished", "tasksFailed", "callsFailed", "wastedCalls", "wastedTokens", "latencyP50Ms", "latencyP99Ms"],
];

test("on the memory bus, in threads: a 429 reduces the whole swarm, and it recovers", async () => {
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
