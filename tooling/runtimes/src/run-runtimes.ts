import { rm } from "node:fs/promises";
import { startOwnServer } from "@hivepace/servers";
import { makeConsumerProject } from "./consumer-project.ts";
import { installRuntime } from "./install-runtime.ts";
import type { Options } from "./options.ts";
import type { Outcome } from "./report.ts";
import type { Runtime } from "./runtimes.ts";
import { runSmoke, type SmokeResult } from "./smoke-test.ts";
import { runUnitTests } from "./unit-tests.ts";

type Say = (line: string) => void;
type Smoke = (runtime: Runtime, program: string) => Promise<SmokeResult>;

/** Runs all checks on one runtime after the other. `say` gets a line at the start of each. */
export async function runRuntimes(
  { runtimes, hasUnitTests, hasSmoke }: Options,
  say: Say,
): Promise<readonly Outcome[]> {
  if (!hasSmoke) return checkAll(runtimes, hasUnitTests, undefined, say);
  await using redis = await startOwnServer("redis");
  await using nats = await startOwnServer("nats");
  say("packing the packages and installing them in an empty project");
  const project = await makeConsumerProject();
  const servers = { REDIS_URL: redis.url, NATS_URL: nats.url };
  const smoke: Smoke = (runtime, program) => runSmoke(runtime, program, project, servers);
  const outcomes = await checkAll(runtimes, hasUnitTests, smoke, say);
  // The project of a failed run is kept for inspection.
  if (outcomes.some((outcome) => outcome.smoke?.failed)) say(`the smoke programs are in ${project}`);
  else await rm(project, { recursive: true, force: true });
  return outcomes;
}

async function checkAll(
  runtimes: readonly Runtime[],
  hasUnitTests: boolean,
  smoke: Smoke | undefined,
  say: Say,
): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const runtime of runtimes) outcomes.push(await check(runtime, hasUnitTests, smoke, say));
  return outcomes;
}

async function check(runtime: Runtime, hasUnitTests: boolean, smoke: Smoke | undefined, say: Say): Promise<Outcome> {
  try {
    say(`${runtime.id}: fetching ${runtime.version}, unless it is in the cache`);
    const program = await installRuntime(runtime);
    if (smoke) say(`${runtime.id}: smoke program`);
    const smoked = await smoke?.(runtime, program);
    // Vitest runs on Node only.
    if (runtime.kind !== "node" || !hasUnitTests) return { runtime, smoke: smoked };
    say(`${runtime.id}: unit tests`);
    return { runtime, smoke: smoked, unit: await runUnitTests(runtime, program) };
  } catch (error) {
    return { runtime, error: (error as Error).message };
  }
}
