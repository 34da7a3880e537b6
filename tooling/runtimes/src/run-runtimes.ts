import { rm } from "node:fs/promises";
import { startOwnServer } from "@hivepace/servers";
import { makeConsumerProject } from "./consumer-project.ts";
import { installRuntime } from "./install-runtime.ts";
import type { Options } from "./options.ts";
import type { Outcome } from "./report.ts";
import type { Runtime } from "./runtimes.ts";
import { runSmoke } from "./smoke-test.ts";
import { runUnitTests } from "./unit-tests.ts";

/** Everything on one runtime after the other. `say` gets a line for each thing that begins. */
export async function runRuntimes(
  { runtimes, hasUnitTests }: Options,
  say: (line: string) => void,
): Promise<readonly Outcome[]> {
  await using redis = await startOwnServer("redis");
  await using nats = await startOwnServer("nats");
  say("packing the packages and installing them in an empty project");
  const project = await makeConsumerProject();
  const servers = { REDIS_URL: redis.url, NATS_URL: nats.url };

  const check = async (runtime: Runtime): Promise<Outcome> => {
    try {
      say(`${runtime.id}: fetching ${runtime.version}, unless it is in the cache`);
      const program = await installRuntime(runtime);
      say(`${runtime.id}: smoke program`);
      const smoke = await runSmoke(runtime, program, project, servers);
      // Vitest runs on Node only.
      if (runtime.kind !== "node" || !hasUnitTests) return { runtime, smoke };
      say(`${runtime.id}: unit tests`);
      return { runtime, smoke, unit: await runUnitTests(runtime, program) };
    } catch (error) {
      return { runtime, error: (error as Error).message };
    }
  };

  const outcomes: Outcome[] = [];
  for (const runtime of runtimes) outcomes.push(await check(runtime));
  // The project of a failed run stays, to be looked at.
  if (outcomes.some((outcome) => outcome.smoke?.failed)) say(`the smoke programs are in ${project}`);
  else await rm(project, { recursive: true, force: true });
  return outcomes;
}
