import { execFileSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { startOwnServer } from "@hivepace/servers";
import { whyNot } from "@hivepace/servers/vitest";
import { until } from "@hivepace/test-kit";
import { describe, expect, test } from "vitest";
import { bundleAgent } from "../src/dev/bundle-agent.ts";
import type { Sample, Scraped } from "./support/exposition.ts";
import { deepCut, play } from "./support/play.ts";
import { shippedQueries } from "./support/queries.ts";
import { agentsIn, withMetrics } from "./support/with-metrics.ts";

const THREE = ["agent-1", "agent-2", "agent-3"];
const SMALL = ["--agents", "3", "--rpm", "60"];
/**
 * Metrics that the demo never produces: it has no store, no malformed messages, a memory bus that is always
 * available, and a provider that refuses only by its rate limit.
 */
const NOT_HERE = /^\^hivepace_(sync_|messages_ignored|bus_changes|availability_changes)/;

const of = (samples: readonly Sample[], name: string, labels: Sample["labels"] = {}) =>
  samples.filter(
    (sample) => sample.name === name && Object.entries(labels).every(([label, is]) => sample.labels[label] === is),
  );

test("in memory, each agent exposes every metric that the shipped dashboard and rules query", async () => {
  const queries = shippedQueries();
  expect(queries.length).toBeGreaterThan(25);
  const expected = queries.filter(({ source }) => !NOT_HERE.test(source));
  expect(queries.length - expected.length).toBeLessThan(7);
  let url = "";
  const code = await withMetrics(
    ["--duration", "24", ...SMALL],
    async (endpoint) => {
      url = endpoint.url;
      const seen = new Set<string>();
      let scraped: Scraped = { samples: [], types: new Map() };
      await until(async () => {
        scraped = await endpoint.scrape();
        for (const { name } of scraped.samples) seen.add(name);
        return (
          agentsIn(scraped).length === 3 && expected.every((metric) => [...seen].some((name) => metric.test(name)))
        );
      }, "all that is asked for is there").catch((error) => {
        const missing = expected.filter((metric) => ![...seen].some((name) => metric.test(name)));
        throw new Error(`missing: ${missing.join(" ")}`, { cause: error });
      });
      const { samples, types } = scraped;
      expect(agentsIn(scraped)).toEqual(THREE);
      expect(of(samples, "hivepace_agent_status", { hivepace_agent_mode: "member" }).length).toBe(3);
      expect([types.get("hivepace_decisions_total"), types.get("hivepace_wait_duration")]).toEqual([
        "counter",
        "histogram",
      ]);
      const granted = of(samples, "hivepace_decisions_total", { hivepace_outcome: "granted" });
      expect(new Set(granted.map(({ labels }) => labels["instance"])).size).toBe(3);
      const knowAll = (members: readonly Sample[]) => members.filter(({ value }) => value === 3).length === 3;
      await until(
        async () => knowAll(of((await endpoint.scrape()).samples, "hivepace_members")),
        "each says that it knows all",
      );
    },
    deepCut,
  );
  expect(code).toBe(130);
  await expect(fetch(url)).rejects.toThrow();
});

test("a crashed agent disappears from the metrics, and joining agents appear", async () => {
  await withMetrics(["--duration", "12", "--agents", "4", "--rpm", "60", "--scenario", "churn"], async (endpoint) => {
    await until(() => /agent-\d+ crashes/.test(endpoint.story()), "an agent crashes");
    const [crashed = ""] = /agent-\d+(?= crashes)/.exec(endpoint.story()) ?? [];
    expect(agentsIn(await endpoint.scrape())).not.toContain(crashed);
    await until(async () => agentsIn(await endpoint.scrape()).includes("agent-5"), "one who joined is there");
  });
});

test("agents are measured separately, and those of the other rows are not measured", async () => {
  await withMetrics(["--duration", "20", ...SMALL, "--scenario", "calm", "--compare"], async ({ scrape }) => {
    let scraped: Scraped = { samples: [], types: new Map() };
    await until(async () => {
      scraped = await scrape();
      return of(scraped.samples, "hivepace_tokens_total").length === 3;
    }, "each has had an answer");
    expect(agentsIn(scraped)).toEqual(THREE);
    // Call sizes vary, so no two agents have used the same amount, unless their metrics are counted together.
    const used = of(scraped.samples, "hivepace_tokens_total").map(({ value }) => value);
    expect(new Set(used).size).toBe(3);
  });
});

test("without --metrics no agent loads the OpenTelemetry SDK, and nothing listens", async () => {
  const agent = await bundleAgent();
  const loaded = new Set([agent.href]);
  for (const href of loaded) {
    const code = await readFile(new URL(href), "utf8");
    for (const [, file = ""] of code.matchAll(/^(?:import|export)\b[^;]*?["'](\.[^"']+)["'];$/gm))
      loaded.add(new URL(file, href).href);
    expect(code).not.toMatch(/^import [^;]*opentelemetry/m);
  }
  expect(loaded.size).toBeGreaterThan(1);
  const { story } = await play(["--duration", "10", ...SMALL, "--scenario", "calm"]);
  expect(story).not.toContain("metrics");
});

// Skipped with the reason where the server cannot be started; CI requires all servers.
describe.skipIf(whyNot("nats", { own: true }) !== undefined)("processes, with a broker", () => {
  /** Returns the ids of the agent processes that this process has started. */
  function agentProcesses(): number[] {
    const lines = String(execFileSync("ps", ["-eo", "pid=,ppid=,args="])).split("\n");
    const found = lines.map((line) => /^\s*(\d+)\s+(\d+)\s.*\bagent\.mjs$/.exec(line.trimEnd()));
    return found.flatMap((match) => (match && Number(match[2]) === process.pid ? [Number(match[1])] : []));
  }

  test("every agent is measured, and a suspended one is left out without delaying the others", async () => {
    const scenario = ["--bus", "nats", "--duration", "40", ...SMALL, "--scenario", "calm"];
    const startServer = () => startOwnServer("nats");
    const code = await withMetrics(
      scenario,
      async ({ scrape }) => {
        await until(async () => agentsIn(await scrape()).length === 3, "all are there");
        const { samples } = await scrape();
        expect(of(samples, "hivepace_bus_changes_total", { hivepace_bus_name: "nats" }).length).toBeGreaterThan(0);
        const [pid = 0, ...others] = agentProcesses();
        expect(others.length).toBe(2);
        process.kill(pid, "SIGSTOP");
        try {
          await until(async () => agentsIn(await scrape()).length === 2, "it is left out");
        } finally {
          process.kill(pid, "SIGCONT");
        }
        await until(async () => agentsIn(await scrape()).length === 3, "it is there again");
      },
      {},
      { startServer },
    );
    expect(code).toBe(130);
    await until(() => agentProcesses().length === 0, "all processes are gone");
  });
});
