import { rm } from "node:fs/promises";
import { startOwnServer } from "@hivepace/servers";
import { runProcessSwarm } from "../../../packages/distributed/test/support/process-swarm.ts";
import { bundledFile } from "../../../packages/distributed/test/support/program.ts";
import { FIGURES_HEAD, figuresLine } from "./figures.ts";
import { WARM_UP } from "./judge.ts";
import { type Options, parseOptions, usage } from "./options.ts";
import { trendsTable } from "./report.ts";
import { type Outcome, soakBroker } from "./soak-broker.ts";

/** Output streams and an abort signal. Node's `process.stdout` and `process.stderr` fit. */
export interface SoakWorld {
  readonly stdout: { write(text: string): unknown };
  readonly stderr: { write(text: string): unknown };
  readonly signal: AbortSignal;
}

const INTERRUPTED = 130;

/**
 * Resolves with the exit code: 0 without growth and remains, 1 with them, 2 for an invalid option, 130 when
 * interrupted.
 */
export async function runSoak(args: readonly string[], world: SoakWorld): Promise<number> {
  let options: Options | undefined;
  try {
    options = parseOptions(args);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    world.stderr.write(`${error.message}\n\n${usage}\n`);
    return 2;
  }
  if (!options) {
    world.stdout.write(`${usage}\n`);
    return 0;
  }
  try {
    const failures = options.figures === undefined ? await rounds(options, world) : await figures(options, world);
    return failures === 0 ? 0 : 1;
  } catch (error) {
    if (world.signal.aborted) return INTERRUPTED;
    world.stderr.write(`${(error as Error).stack}\n`);
    return 1;
  }
}

/** Resolves with the number of failures. */
async function rounds(options: Options, world: SoakWorld): Promise<number> {
  // A bundle per run: processes are started from it until the end, and other soaks may run at the same time.
  const file = await bundledFile(new URL("agent/main.ts", import.meta.url), `soak-agent-${process.pid}`);
  try {
    return await roundsOf(file, options, world);
  } finally {
    await rm(file, { force: true });
  }
}

async function roundsOf(file: string, options: Options, { stdout, stderr, signal }: SoakWorld): Promise<number> {
  const { brokers, minutes, seed } = options;
  stdout.write(`seed ${seed}\n`);
  const lines: string[] = [];
  const failures: string[] = [];
  const startedAt = performance.now();
  for (const [i, broker] of brokers.entries()) {
    const until = startedAt + ((i + 1) * minutes * 60_000) / brokers.length;
    const log = (line: string) => stderr.write(`${broker}: ${line}\n`);
    try {
      const outcome = await soakBroker({ broker, options, file, until, signal, log });
      stdout.write(`\n${summary(broker, outcome, options)}\n`);
      lines.push(figuresLine(broker, outcome.figures));
      failures.push(...outcome.failures.map((failure) => `${broker}: ${failure}`));
    } catch (error) {
      signal.throwIfAborted();
      failures.push(`${broker}: ${(error as Error).message}`);
    }
  }
  stdout.write(`\n${[FIGURES_HEAD, ...lines].join("\n")}\n\n`);
  if (failures.length === 0) stdout.write(`no resource grows or remains, seed ${seed}\n`);
  else
    stdout.write(
      `${failures.map((failure) => `FAILED ${failure}\n`).join("")}${failures.length} failed, seed ${seed}\n`,
    );
  return failures.length;
}

function summary(broker: string, { rounds: count, trends }: Outcome, { agents }: Options): string {
  const ids = Array.from({ length: agents - 1 }, (_, i) => `agent-${i}`);
  const head = `${broker}: ${count} rounds, the first ${WARM_UP} as warm-up, ${agents} agents, of which ${ids.length} run from start to end`;
  return `${head}\n\n${trendsTable(trends, ids)}`;
}

/** Measures only the figures, with sixteen processes, as the documentation quotes them. */
async function figures(
  { brokers, figures: seconds = 0 }: Options,
  { stdout, stderr, signal }: SoakWorld,
): Promise<number> {
  const calmMs = Math.max(5_000, (seconds * 1_000) / 4);
  stdout.write(`${FIGURES_HEAD}\n`);
  for (const broker of brokers) {
    signal.throwIfAborted();
    await using server = await startOwnServer(broker);
    const log = (line: string) => stderr.write(`${broker}: ${line}\n`);
    const plan = { broker, agents: 16, limit: 400, windowMs: 10_000, calmMs, awayMs: 10_000, stoppedMs: 10_000, log };
    stdout.write(`${figuresLine(broker, await runProcessSwarm(server, plan))}\n`);
  }
  return 0;
}
