/**
 * Rewrites `test/fixtures/traces.txt`. With `--check`, only prints the runs that differ from their committed traces; a
 * number after it, as in `--check 10`, checks one run in ten.
 */
import { simulateEngine } from "../../src/testing/simulate-engine.ts";
import { readTraces, tracedRuns, writeTraces } from "../support/traces.ts";

const [option, every = "1"] = process.argv.slice(2);
const isCheck = option === "--check";
const before = isCheck ? readTraces() : new Map<string, string>();
const traces = new Map<string, string>();
let changed = 0;
let index = 0;
for (const [run, options] of tracedRuns()) {
  if (index++ % Number(every) !== 0) continue;
  const { trace } = simulateEngine(options);
  traces.set(run, trace);
  if (!isCheck || before.get(run) === trace) continue;
  changed++;
  console.log(`${run}: ${before.get(run)} -> ${trace}`);
}
if (!isCheck) writeTraces(traces);
console.log(isCheck ? `${traces.size} runs, ${changed} took another course` : `${traces.size} traces written`);
process.exitCode = changed > 0 ? 1 : 0;
