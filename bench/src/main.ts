import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { compare } from "./compare.ts";
import { describeMachine } from "./machine.ts";
import { type Options, parseOptions, usage } from "./options.ts";
import { misses, type Report, reportJson, reportMarkdown, type SuiteReport, suiteText } from "./report.ts";
import type { RunParameters, Suite } from "./suite.ts";
import { allSuites } from "./suites/all.ts";
import { realWorld } from "./world.ts";

const here = fileURLToPath(new URL("..", import.meta.url));

function chosen(names: readonly string[]): readonly Suite[] {
  const unknown = names.find((name) => !allSuites.some((suite) => suite.name === name));
  if (unknown !== undefined)
    throw new RangeError(`no suite "${unknown}"; there are: ${allSuites.map(({ name }) => name).join(", ")}`);
  return names.length === 0 ? allSuites : allSuites.filter(({ name }) => names.includes(name));
}

async function run(suite: Suite, parameters: RunParameters): Promise<SuiteReport> {
  const { name, title } = suite;
  const rows = suite.kind === "free" ? await suite.measure(parameters) : await compare(suite, parameters, realWorld);
  return { name, title, rows };
}

async function versions(): Promise<Record<string, string>> {
  const { dependencies } = JSON.parse(await readFile(resolve(here, "package.json"), "utf8"));
  return Object.fromEntries(Object.entries<string>(dependencies).filter(([, version]) => /^\d/.test(version)));
}

async function write(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
  console.log(`wrote ${path}`);
}

async function main({ suites: names, parameters, json, list, strict }: Options): Promise<void> {
  if (list) {
    for (const { name, title } of allSuites) console.log(`${name}: ${title}`);
    return;
  }
  const machine = describeMachine();
  const suites: SuiteReport[] = [];
  for (const suite of chosen(names)) {
    const report = await run(suite, parameters);
    suites.push(report);
    console.log(`\n${suiteText(report)}`);
  }
  const report: Report = { machine, parameters, versions: await versions(), suites };
  // The documentation quotes the results of full runs, so a part or a smoke test must not replace them.
  const folder = resolve(here, names.length === 0 && !parameters.quick ? "results" : "../.cache/bench");
  await write(resolve(folder, "latest.md"), reportMarkdown(report));
  await write(json === undefined ? resolve(folder, "latest.json") : resolve(json), reportJson(report));
  const missed = misses(report);
  console.log(missed.length === 0 ? "nothing wanted was missed" : `missed: ${missed.length}`);
  if (strict && missed.length > 0) process.exitCode = 1;
}

try {
  await main(parseOptions(process.argv.slice(2)));
} catch (error) {
  console.error(error instanceof TypeError || error instanceof RangeError ? `${error.message}\n\n${usage}` : error);
  process.exitCode = 1;
}
