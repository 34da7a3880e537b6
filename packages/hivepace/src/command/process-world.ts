import { EXIT, type World } from "./world.ts";

/** So long the last writes and closes may take before the process ends all the same. */
const PATIENCE_MS = 1_000;

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Runs a command as this process: its streams, its signals, its exit code. */
export async function runAsProcess(run: (args: readonly string[], world: World) => Promise<number>): Promise<void> {
  const { stdout, stderr, env, argv } = process;
  const over = new AbortController();
  let isUnheard = false;
  const interrupt = (): void => {
    // Whoever asks twice does not want to wait.
    if (over.signal.aborted) process.exit(EXIT.interrupted);
    over.abort(new Error("interrupted"));
  };
  for (const name of SIGNALS) process.on(name, interrupt);
  const endAtOnce = (): void => {
    for (const name of SIGNALS) process.off(name, interrupt);
  };
  // Nobody reads any more (`| head`): that is the end, and no error.
  const hangUp = (error: NodeJS.ErrnoException): void => {
    if (error.code !== "EPIPE") throw error;
    isUnheard = true;
    over.abort(error);
  };
  stdout.on("error", hangUp);
  stderr.on("error", hangUp);
  // What a library of ours must not keep to itself, as a sentence.
  process.removeAllListeners("warning");
  process.on("warning", ({ message, name }) => {
    if (name === "HivepaceWarning") stderr.write(`hivepace: ${message}\n`);
  });
  const code = await run(argv.slice(2), { stdout, stderr, env, signal: over.signal, endAtOnce });
  process.exitCode = isUnheard ? EXIT.fine : code;
  if (over.signal.aborted) process.exit();
  setTimeout(() => process.exit(), PATIENCE_MS).unref();
}
