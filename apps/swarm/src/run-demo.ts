import { Closers } from "./closers.ts";
import { textOf } from "./metrics/family.ts";
import { openMetrics } from "./metrics/open-metrics.ts";
import { openGround } from "./open-ground.ts";
import { openPage } from "./open-page.ts";
import { type DemoOptions, OptionError, parseOptions, usage } from "./options.ts";
import { type Plan, planOf } from "./plan.ts";
import { peers } from "./rows.ts";
import type { Outcome } from "./run/outcome.ts";
import { Race } from "./run/race.ts";
import type { RunEvent } from "./run/run-event.ts";
import type { Score } from "./run/score.ts";
import { judge } from "./run/verdict.ts";
import { introduction } from "./show/introduction.ts";
import { clockOf, PlainReporter, type Reporter, reporterFor, timeOf } from "./show/reporter.ts";
import { sentenceOf } from "./show/story.ts";
import { LEGEND, tableOf } from "./show/table.ts";
import type { DemoWorld } from "./world.ts";

const EXIT = { right: 0, wrong: 1, badOption: 2, interrupted: 130 } as const;

/** Runs the demo. Resolves with the exit code; never rejects. */
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

/** Runs the demo with valid options. Rejects when a part of it cannot be started. */
export async function playDemo(options: DemoOptions, plan: Plan, world: DemoWorld): Promise<number> {
  const { signal } = world;
  const reporter = options.json ? new PlainReporter(world.stderr) : reporterFor(world.stdout);
  const closers = new Closers();
  let race: Race | undefined;
  let atMs = 0;
  const emit = (event: RunEvent, at: number): void => {
    if (event.type === "progress") {
      atMs = at;
      reporter.progress(event, at, plan.durationMs, race?.scores ?? []);
    } else reporter.line(`${timeOf(at)}  ${sentenceOf(event)}`);
  };
  try {
    const { metrics: metricsPort } = options;
    const isMeasured = metricsPort !== undefined;
    // Opened first, so that a port in use is reported before any server is started.
    const metrics = isMeasured ? await closers.opened(openMetrics(metricsPort), signal) : undefined;
    const agentFile = await (world.agentFile?.() ?? new URL("./agent.js", import.meta.url));
    const ground = await closers.opened(openGround(options.bus, world), signal);
    const namespace = `demo-${Math.random().toString(36).slice(2, 10)}`;
    const { address: bus, name: busName, busSwitch } = ground;
    const place = { agentFile, bus, namespace, epochMs: Date.now(), busName, busSwitch };

    for (const line of introduction(plan, options.scenario, ground, options.compare)) reporter.line(line);
    const setting = { ...place, hosts: ground.hosts, isMeasured, scenario: options.scenario, emit };
    race = await Race.open(plan, setting, options.compare ? peers : []);
    const opened = race;
    closers.add(opened);
    metrics?.show(async () => textOf(await opened.measure()));
    const page = await closers.opened(openPage(opened, { ...place, options, plan, world }), signal);
    if (page.url !== undefined) reporter.line(`The page:  ${page.url}`);
    if (metrics) reporter.line(`The metrics:  ${metrics.url}`);
    reporter.line("");
    const scores = await opened.play(signal);
    reporter.end();
    for (const line of ["", ...tableOf(scores), "", ...LEGEND, ""]) reporter.line(line);
    const outcome = await opened.settle(signal);
    if (options.json) world.stdout.write(`${JSON.stringify(jsonOf(outcome, scores, options))}\n`);
    return conclude(outcome, reporter);
  } catch (error) {
    if (!signal.aborted) throw error;
    reporter.end();
    if (race && atMs > 0)
      for (const line of ["", `After ${clockOf(atMs)} minutes:`, ...tableOf(race.scores), ""]) reporter.line(line);
    return EXIT.interrupted;
  } finally {
    reporter.end();
    await closers.close(signal.aborted);
    if (signal.aborted) reporter.line("Interrupted: everything is stopped.");
  }
}

function jsonOf({ figures }: Outcome, scores: readonly Score[], { compare }: DemoOptions): object {
  const [{ row: _, utilization: __, ...own } = {} as Score] = scores;
  return { ...figures, ...own, ...(compare && { rows: scores }) };
}

function conclude({ figures, ending }: Outcome, reporter: Reporter): number {
  const { isRight, sentences } = judge(figures, ending);
  for (const sentence of sentences) reporter.line(sentence);
  return isRight ? EXIT.right : EXIT.wrong;
}
