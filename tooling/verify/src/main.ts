import { fileURLToPath } from "node:url";
import { runVerify } from "./run-verify.ts";

const interrupted = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => interrupted.abort());
process.exitCode = await runVerify(process.argv.slice(2), {
  root: fileURLToPath(new URL("../../..", import.meta.url)),
  env: process.env,
  print: (text) => console.log(text),
  printError: (text) => console.error(text),
  signal: interrupted.signal,
});
