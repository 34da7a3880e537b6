import { relative } from "node:path";
import type { Reporter, TestCase, TestModule } from "vitest/node";

/** Maximum number of failed tests that are listed. */
const MOST = 20;

/** After a failed run, prints for each failed test the command that repeats only that test. */
// biome-ignore lint/style/noDefaultExport: Vitest loads a reporter by the default export of its file.
export default class RepeatReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const commands = modules.flatMap((module) => [
      ...(module.errors().length > 0 ? [commandFor(module)] : []),
      ...[...module.children.allTests("failed")].map((test) => commandFor(module, test)),
    ]);
    if (commands.length === 0) return;
    const more = commands.length > MOST ? `\n  … and ${commands.length - MOST} more` : "";
    process.stderr.write(`\nTo repeat only the failed tests:\n${commands.slice(0, MOST).join("\n")}${more}\n`);
  }
}

function commandFor({ moduleId, project }: TestModule, test?: TestCase): string {
  const file = relative(process.cwd(), moduleId);
  const name = test ? ` -t ${quoted(`^${escaped(test.fullName.replaceAll(" > ", " "))}$`)}` : "";
  const only = project.name ? `--project ${project.name} ` : "";
  return `  npx -y pnpm@12.18.0 test ${only}${file}${name}`;
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

/** Quotes a text as one shell word. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
