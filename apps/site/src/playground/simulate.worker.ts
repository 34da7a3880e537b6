/** Simulates in a worker thread, so that the page stays responsive. Each run replaces the worker. */
import { type Scheme, simulateSwarm } from "@hivepace/distributed/testing";
import type { Result, Run, Update } from "./messages.ts";
import { DURATION_MS, optionsOf, type Settings } from "./settings.ts";

const post = (update: Update): void => self.postMessage(update);

self.onmessage = async ({ data }: MessageEvent<Run>) => {
  try {
    const startedAt = performance.now();
    const schemes: readonly Scheme[] = data.settings.against === "none" ? ["hive"] : ["hive", data.settings.against];
    const results: Result[] = [];
    for (const [i, scheme] of schemes.entries())
      results.push(
        await run(data.settings, scheme, (done) => post({ type: "progress", done: (i + done) / schemes.length })),
      );
    post({ type: "results", results, ms: performance.now() - startedAt });
  } catch (error) {
    post({ type: "error", message: error instanceof Error ? error.message : String(error) });
  }
};

async function run(settings: Settings, scheme: Scheme, progress: (done: number) => void): Promise<Result> {
  const report = await simulateSwarm({
    ...optionsOf(settings, scheme),
    onProgress: (timeMs) => {
      if (Math.round(timeMs / 1_000) % 20 === 0) progress(timeMs / DURATION_MS);
    },
  });
  const { use, max, sent, accepted, refused, jain, wait, seconds, levelSeconds } = report;
  return { scheme, use, max, sent, accepted, refused, jain, wait, seconds, levelSeconds };
}
