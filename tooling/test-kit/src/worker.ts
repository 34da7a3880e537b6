import { fileURLToPath } from "node:url";
import { Worker, type WorkerOptions } from "node:worker_threads";
import { build } from "esbuild";

/**
 * Starts a thread that runs a TypeScript file on the packages' sources. The file is bundled first, because a worker on
 * Node 20 cannot use a loader.
 */
export async function startWorker(file: URL, options?: WorkerOptions): Promise<Worker> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(file)],
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20",
    conditions: ["@hivepace/source"],
    sourcemap: "inline",
    write: false,
  });
  const code = Buffer.from(outputFiles[0]?.contents ?? []).toString("base64");
  return new Worker(new URL(`data:text/javascript;base64,${code}`), options);
}

/** Resolves with a worker's next message; rejects when the worker fails or exits without one. */
export function answerOf<T>(worker: Worker): Promise<T> {
  return new Promise((resolve, reject) => {
    worker.once("message", resolve);
    worker.once("error", reject);
    worker.once("exit", (code) => reject(new Error(`the worker exited with ${code} before its first message`)));
  });
}
