import { runSoak } from "./run-soak.ts";

const { stdout, stderr, argv } = process;
const interrupted = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => interrupted.abort());
process.exitCode = await runSoak(argv.slice(2), { stdout, stderr, signal: interrupted.signal });
