import { startDashboard } from "@hivepace/dashboard";
import { until } from "@hivepace/test-kit";
import { expect, test } from "vitest";
import { bundleAgent } from "../src/dev/bundle-agent.ts";
import { runDemo } from "../src/index.ts";
import { withPage } from "./support/with-page.ts";

test("the page opens with the run, observes the agents, and its buttons work", async () => {
  let url = "";
  const code = await withPage(async (page) => {
    url = page.url;
    expect((await fetch(url)).status).toBe(200);
    expect(page.story()).toContain(url);
    const { observer, provider, controls } = page.options;
    await until(() => observer.snapshot().agents.length === 3, "the page has heard all agents");
    const press = (id: string) => controls?.find((control) => control.id === id)?.run();
    const limitRpm = () => provider?.()?.limitRpm;
    const full = limitRpm() ?? Number.NaN;
    expect(await press("cut")).toContain("50 %");
    expect(limitRpm()).toBe(full / 2);
    expect(await press("restore")).toContain("the whole limit again");
    expect(limitRpm()).toBe(full);
    expect(await press("kill-bus")).toBe("no agent reaches the others any more");
    expect(await press("restore-bus")).toBe("the agents reach each other again");
    expect(await press("add-agents")).toContain("10 agents join");
    await until(() => observer.snapshot().agents.length === 13, "the page has heard those who joined");
    expect(await press("kill-agent")).toMatch(/^agent-\d+ crashes/);
  });
  expect(code).toBe(130);
  await expect(fetch(url)).rejects.toThrow();
});

test("a page port in use prints one line and exits with 1", async () => {
  await withPage(async ({ url }) => {
    let err = "";
    const code = await runDemo(["--port", new URL(url).port, "--agents", "1", "--duration", "10"], {
      stdout: { write: () => {} },
      stderr: { write: (text) => (err += text) },
      signal: new AbortController().signal,
      agentFile: bundleAgent,
      openDashboard: (options) => startDashboard(options),
    });
    expect(code).toBe(1);
    expect(err).toMatch(/^[^\n]*port[^\n]*\n$/i);
  });
});
