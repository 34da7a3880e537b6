import { until } from "@hivepace/test-kit";
import { bundleAgent } from "../../src/dev/bundle-agent.ts";
import { OptionError, parseOptions } from "../../src/options.ts";
import { type Plan, planOf } from "../../src/plan.ts";
import { playDemo } from "../../src/run-demo.ts";
import type { DemoWorld } from "../../src/world.ts";
import { readExposition, type Scraped } from "./exposition.ts";

interface Endpoint {
  readonly url: string;
  /** Scrapes and parses strictly. */
  scrape(): Promise<Scraped>;
  story(): string;
}

/** Runs the demo with `--metrics` until `look` resolves. */
export async function withMetrics(
  args: readonly string[],
  look: (endpoint: Endpoint) => Promise<void>,
  change: Partial<Plan> = {},
  world: Partial<DemoWorld> = {},
): Promise<number> {
  const options = parseOptions([...args, "--json", "--metrics", "0"]);
  if (options === undefined) throw new OptionError("withMetrics cannot run --help");
  const stop = new AbortController();
  let story = "";
  const screen = { write: (text: string) => (story += text) };
  const demo = playDemo(
    options,
    { ...planOf(options), ...change },
    { stdout: screen, stderr: screen, signal: stop.signal, agentFile: bundleAgent, ...world },
  );
  demo.catch(() => {});
  try {
    await until(() => /agents started/.test(story), "the swarm runs");
    const url = /The metrics: {2}(http:\S+)/.exec(story)?.[1] ?? "";
    const scrape = async (): Promise<Scraped> => readExposition(await (await fetch(url)).text());
    await look({ url, scrape, story: () => story });
  } finally {
    stop.abort();
    await demo;
  }
  return demo;
}

/** Returns the agents that occur in a scrape. */
export function agentsIn({ samples }: Scraped): string[] {
  return [...new Set(samples.map(({ labels }) => labels["instance"] ?? "nobody"))].sort();
}
