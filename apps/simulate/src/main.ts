import { runSimulate } from "./run-simulate.ts";

const { stdout, stderr, argv } = process;
const interrupted = new AbortController();
process.once("SIGINT", () => interrupted.abort());
process.exitCode = await runSimulate(argv.slice(2), { stdout, stderr, signal: interrupted.signal });
