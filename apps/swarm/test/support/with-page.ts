import { type DashboardOptions, startDashboard } from "@hivepace/dashboard";
import { until } from "@hivepace/test-kit";
import { bundleAgent } from "../../src/dev/bundle-agent.ts";
import { runDemo } from "../../src/index.ts";

interface OpenPage {
  readonly url: string;
  readonly options: DashboardOptions;
  story(): string;
}

/** Runs the demo with its page until `look` resolves. */
export async function withPage(look: (page: OpenPage) => Promise<void>, seconds = 20): Promise<number> {
  const stop = new AbortController();
  let story = "";
  let opened: { url: string; options: DashboardOptions } | undefined;
  const screen = { write: (text: string) => (story += text) };
  const demo = runDemo(["--agents", "3", "--duration", String(seconds), "--scenario", "calm"], {
    stdout: screen,
    stderr: screen,
    signal: stop.signal,
    agentFile: bundleAgent,
    openDashboard: async (options) => {
      const dashboard = await startDashboard(options);
      opened = { url: dashboard.url, options };
      return dashboard;
    },
  });
  try {
    await until(() => /agents started/.test(story), "the swarm runs");
    if (opened === undefined) throw new Error(`no page was opened:\n${story}`);
    await look({ ...opened, story: () => story });
  } finally {
    stop.abort();
    await demo;
  }
  return demo;
}
