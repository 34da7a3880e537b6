/** The demo as this repository runs it: with the page, its own servers, and the agent bundled from source. */
import { startDashboard } from "@hivepace/dashboard";
import { startOwnServer } from "@hivepace/servers";
import { bundleAgent } from "./dev/bundle-agent.ts";
import { runDemo } from "./index.ts";

/** The time that remaining handles get before the process exits. */
const LEAVE_MS = 100;

const interrupted = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => interrupted.abort());

process.exitCode = await runDemo(process.argv.slice(2), {
  stdout: process.stdout,
  stderr: process.stderr,
  signal: interrupted.signal,
  startServer: (kind) => startOwnServer(kind),
  openDashboard: (options) => startDashboard(options),
  agentFile: bundleAgent,
});
setTimeout(() => process.exit(), LEAVE_MS).unref();
