/** The command `runtimes`. Exit codes: 0 when everything passed, 1 when something failed, 2 for an invalid option. */
import { root } from "./folders.ts";
import { newerMajors, newestOf } from "./newest.ts";
import { type Options, parseOptions, usage } from "./options.ts";
import { failureReport, hasFailed, resultTable } from "./report.ts";
import { run } from "./run.ts";
import { runRuntimes } from "./run-runtimes.ts";
import { type Kind, runtimes as pinned } from "./runtimes.ts";

let options: Options | undefined;
try {
  options = parseOptions(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof RangeError)) throw error;
  console.error(`${error.message}\n\n${usage}`);
  process.exitCode = 2;
}
if (options?.action === "help") console.log(usage);
if (options?.action === "list")
  for (const { id, version } of options.runtimes) console.log(`${id.padEnd(8)} ${version}`);
if (options?.action === "outdated") await showOutdated(options);
if (options?.action === "run") process.exitCode = await check(options);

async function check(options: Options): Promise<number> {
  const outcomes = await runRuntimes(options, (line) => console.log(line));
  console.log(`\n${resultTable(outcomes)}`);
  if (!outcomes.some(hasFailed)) return 0;
  console.log(`\n${failureReport(outcomes)}`);
  return 1;
}

async function showOutdated({ runtimes }: Options): Promise<void> {
  for (const kind of new Set<Kind>(runtimes.map((runtime) => runtime.kind))) {
    const versions = JSON.parse(await run("npm", ["view", kind, "versions", "--json"], { cwd: root })) as string[];
    for (const runtime of runtimes.filter((one) => one.kind === kind)) {
      const newest = newestOf(runtime, versions);
      const news = newest === runtime.version ? "the newest" : `${newest} is newer`;
      console.log(`${runtime.id.padEnd(8)} ${runtime.version.padEnd(8)} ${news}`);
    }
    for (const major of kind === "node" ? newerMajors(pinned, versions) : [])
      console.log(`node-${major} is released and not in the table`);
  }
}
