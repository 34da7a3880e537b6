import { EXIT, type World } from "./world.ts";

/** Milliseconds that pending writes and closes may take before the process exits anyway. */
const PATIENCE_MS = 1_000;

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Runs a command as this process: with its streams, signals and exit code. */
export async function runAsProcess(run: (args: readonly string[], world: World) => Promise<number>): Promise<void> {
  const { stdout, stderr, env, argv } = process;
  const over = new AbortController();
  let isUnheard = false;
  const interrupt = (): void => {
    // A second signal ends the process at once.
    if (over.signal.aborted) process.exit(EXIT.interrupted);
    over.abort(new Error("interrupted"));
  };
  for (const name of SIGNALS) process.on(name, interrupt);
  const endAtOnce = (): void => {
    for (const name of SIGNALS) process.off(name, interrupt);
  };
  // The reader of the output has gone (`| head`), which ends the command without an error.
  const hangUp = (error: NodeJS.ErrnoException): void => {
    if (error.code !== "EPIPE") throw error;
    isUnheard = true;
    over.abort(error);
  };
  stdout.on("error", hangUp);
  stderr.on("error", hangUp);
  // Warnings of Hivepace are printed as one sentence each.
  process.removeAllListeners("warning");
  process.on("warning", ({ message, name }) => {
    if (name === "HivepaceWarning") stderr.write(`hivepace: ${message}\n`);
  });
  const code = await run(argv.slice(2), { stdout, stderr, env, signal: over.signal, endAtOnce });
  process.exitCode = isUnheard ? EXIT.fine : code;
  if (over.signal.aborted) process.exit();
  setTimeout(() => process.exit(), PATIENCE_MS).unref();
}
