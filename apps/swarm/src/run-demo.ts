import { Closers } from "./closers.ts";
import { compare } from "./compare.ts";
import { textOf } from "./metrics/family.ts";
import { openMetrics } from "./metrics/open-metrics.ts";
import { type BusGround, openGround } from "./open-ground.ts";
import { openPage } from "./open-page.ts";
import { type DemoOptions, OptionError, parseOptions, usage } from "./options.ts";
import { type Plan, planOf } from "./plan.ts";
import type { Outcome } from "./run/outcome.ts";
import type { RunEvent } from "./run/run-event.ts";
import { type RunSetting, SwarmRun } from "./run/swarm-run.ts";
import { judge } from "./run/verdict.ts";
import { introduction } from "./show/introduction.ts";
import { at, PlainReporter, type Reporter, reporterFor } from "./show/reporter.ts";
import { sentenceOf } from "./show/story.ts";
import { tableOf } from "./show/table.ts";
import type { DemoWorld } from "./world.ts";

const EXIT = { right: 0, wrong: 1, badOption: 2, interrupted: 130 } as const;

/** The demo. Resolves with the exit code; never rejects. */
export async function runDemo(args: readonly string[], world: DemoWorld): Promise<number> {
  try {
    const options = parseOptions(args);
    if (options !== undefined) return await playDemo(options, planOf(options), world);
    world.stdout.write(`${usage}\n`);
    return EXIT.right;
  } catch (error) {
    if (world.signal.aborted) return EXIT.interrupted;
    world.stderr.write(`${(error as Error).message}\n`);
    return error instanceof OptionError ? EXIT.badOption : EXIT.wrong;
  }
}

/** With options that are right. Rejects with what cannot be started. */
export async function playDemo(options: DemoOptions, plan: Plan, world: DemoWorld): Promise<number> {
  const { signal } = world;
  const reporter = options.json ? new PlainReporter(world.stderr) : reporterFor(world.stdout);
  const closers = new Closers();
  try {
    const { metrics: metricsPort } = options;
    const isMeasured = metricsPort !== undefined;
    // First of all: a port that is taken is known before a server is started.
    const metrics = isMeasured ? await closers.opened(openMetrics(metricsPort), signal) : undefined;
    const agentFile = await (world.agentFile?.() ?? new URL("./agent.js", import.meta.url));
    const ground = await closers.opened(openGround(options.bus, world), signal);
    const namespace = `demo-${Math.random().toString(36).slice(2, 10)}`;
    const setting = { agentFile, bus: ground.address, namespace, busName: ground.name, busSwitch: ground.busSwitch };
    const isTogether = plan.scenario.pacing === "hive";

    for (const line of introduction(plan, options.scenario, ground)) reporter.line(line);
    const hosts = hostsOf(isTogether, isMeasured, ground);
    const main = await openRun(plan, { ...setting, hosts, isMeasured }, options, reporter);
    closers.add(main);
    metrics?.show(async () => textOf(await main.measure()));
    if (isTogether) {
      const page = await closers.opened(openPage(main, { ...setting, options, plan, world }), signal);
      if (page.url !== undefined) reporter.line(`The page:  ${page.url}`);
    }
    if (metrics) reporter.line(`The metrics:  ${metrics.url}`);
    reporter.line("");
    const outcome = await main.play(signal);
    reporter.end();
    if (options.json) world.stdout.write(`${JSON.stringify(outcome.figures)}\n`);
    const rows = [{ name: rowName(options), outcome }];
    if (options.compare && isTogether) {
      reporter.line("");
      reporter.line(
        `The same load${plan.scenario.steps.length > 0 ? ", spared what happened above" : ""}: every agent for itself, and without Hivepace. A moment, please.`,
      );
      const { without, alone } = await compare(plan, setting, signal);
      rows.push({ name: "every agent for itself", outcome: alone }, { name: "without Hivepace", outcome: without });
    }
    return conclude(rows, outcome, reporter);
  } catch (error) {
    if (signal.aborted) return EXIT.interrupted;
    throw error;
  } finally {
    reporter.end();
    await closers.close(signal.aborted);
    if (signal.aborted) reporter.line("Interrupted: everything is stopped.");
  }
}

/** Those who do not talk to each other share a thread, unless each is measured by itself. */
function hostsOf(isTogether: boolean, isMeasured: boolean, { hosts }: BusGround): RunSetting["hosts"] {
  if (isTogether) return hosts;
  return isMeasured ? "thread" : "one thread";
}

async function openRun(
  plan: Plan,
  setting: Omit<RunSetting, "scenario" | "tell">,
  { scenario }: DemoOptions,
  reporter: Reporter,
): Promise<SwarmRun> {
  const tell = (event: RunEvent, atMs: number): void => {
    if (event.type === "progress") reporter.progress(event, atMs, plan.durationMs);
    else reporter.line(`${at(atMs)}  ${sentenceOf(event)}`);
  };
  return SwarmRun.open(plan, { ...setting, scenario, tell });
}

function rowName({ scenario }: DemoOptions): string {
  if (scenario === "alone") return "every agent for itself";
  return scenario === "without" ? "without Hivepace" : "with Hivepace";
}

function conclude(
  rows: readonly { name: string; outcome: Outcome }[],
  { figures, ending }: Outcome,
  reporter: Reporter,
): number {
  const { isRight, sentences } = judge(figures, ending);
  reporter.line("");
  for (const line of tableOf(rows)) reporter.line(line);
  reporter.line("");
  for (const sentence of sentences) reporter.line(sentence);
  return isRight ? EXIT.right : EXIT.wrong;
}
