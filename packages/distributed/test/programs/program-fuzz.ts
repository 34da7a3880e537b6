/**
 * Runs random programs: `swarm:programs <subject> [first seed] [programs]`. Exits 1 at the first program that breaks a
 * law.
 */
import { FUZZERS } from "../program-fuzz/subjects.ts";

const [name, first = "1", programs = "1"] = process.argv.slice(2);
const fuzzer = FUZZERS.find((each) => each.name === name);
if (!fuzzer) {
  console.error(`usage: swarm:programs <${FUZZERS.map((each) => each.name).join("|")}> [first seed] [programs]`);
  process.exit(2);
}
const start = performance.now();
for (let seed = Number(first); seed < Number(first) + Number(programs); seed++) {
  try {
    await fuzzer.check(seed);
    const done = seed - Number(first) + 1;
    if (done % 500 === 0) console.log(`${done} programs, until seed ${seed}`);
  } catch (error) {
    console.error((error as Error).message);
    console.error(`found after ${seed - Number(first) + 1} programs`);
    process.exit(1);
  }
}
console.log(`${programs} programs in ${((performance.now() - start) / 1_000).toFixed(1)} s, no law was broken`);
