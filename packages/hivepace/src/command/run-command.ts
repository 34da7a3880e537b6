import { isHivepaceError } from "@hivepace/core";
import { messageOf, redact } from "@hivepace/core/internal";
import { commands } from "./commands.ts";
import { runtimeOf } from "./runtime.ts";
import { jsonLine } from "./text/json.ts";
import { nearest } from "./text/nearest.ts";
import { UsageError } from "./usage-error.ts";
import { version } from "./version.ts";
import { EXIT, type World } from "./world.ts";

const width = Math.max(...Object.keys(commands).map((name) => name.length)) + 2;

export const globalHelp = `hivepace <command> [options]        coordinate the rate limits of many agents

${Object.entries(commands)
  .map(([name, { about }]) => `  ${name.padEnd(width)}${about}`)
  .join("\n")}

  --help                print the options of a command
  --version             print the versions of hivepace and the runtime
  --json                print JSON

Every command exits with 0 on success, with 1 when the request failed or a problem was found, with 2 for an invalid
command line, and with 130 when it was interrupted.
`;

/** Runs the command line and resolves with the exit code. Never rejects because of a user's mistake. */
export async function runCommand(args: readonly string[], world: World): Promise<number> {
  const isJson = args.includes("--json");
  try {
    return await dispatch(args, world, isJson);
  } catch (error) {
    if (world.signal.aborted) return EXIT.interrupted;
    return fail(error, args, world, isJson);
  }
}

async function dispatch(args: readonly string[], world: World, isJson: boolean): Promise<number> {
  const [name, ...rest] = args;
  if (name === undefined) {
    world.stderr.write(globalHelp);
    return EXIT.usage;
  }
  if (name === "--version" || name === "-v") {
    const runtime = runtimeOf(process.versions);
    const versions = { hivepace: version(), [runtime.name]: runtime.version };
    const text = `hivepace ${version()}, ${runtime.name} ${runtime.version}\n`;
    world.stdout.write(isJson ? jsonLine(versions) : text);
    return EXIT.fine;
  }
  const asked = name === "help" ? rest.find((arg) => !arg.startsWith("-")) : name;
  if (asked === undefined || name === "--help" || name === "-h") return tell(globalHelp, world, isJson);
  const command = Object.hasOwn(commands, asked) ? commands[asked] : undefined;
  if (!command) throw new UsageError(unknown(asked));
  const module = await command.load();
  const isHelp = name === "help" || rest.some((arg) => arg === "--help" || arg === "-h");
  return isHelp ? tell(`${module.help}\n`, world, isJson) : module.run(rest, world);
}

function tell(text: string, { stdout }: World, isJson: boolean): number {
  stdout.write(isJson ? jsonLine({ help: text }) : text);
  return EXIT.fine;
}

function unknown(name: string): string {
  const near = nearest(name, Object.keys(commands));
  const hint = near === undefined ? `the commands are ${Object.keys(commands).join(", ")}` : `did you mean ${near}?`;
  return `unknown command ${JSON.stringify(name)}: ${hint}`;
}

/** Names of options on the command line or in the environment, by their names in the API. */
const NAMES: Readonly<Record<string, string>> = {
  bus: "--bus",
  namespace: "--namespace",
  secret: "HIVEPACE_SECRET",
  resource: "<resource>",
  agentId: "--as",
  reason: "--reason",
  newCapacity: "--capacity",
  host: "--host",
  port: "--port",
};

/** Prints an error as a sentence. The stack is printed only with HIVEPACE_DEBUG. */
function fail(error: unknown, [name]: readonly string[], { stderr, env }: World, isJson: boolean): number {
  const { isUsage, message, code } = explained(error);
  if (isJson) stderr.write(jsonLine({ error: { code, message } }));
  else {
    stderr.write(`hivepace: ${message}\n`);
    if (isUsage && name !== undefined)
      stderr.write(`try: hivepace ${Object.hasOwn(commands, name) ? name : ""} --help\n`.replace("  ", " "));
  }
  if (env["HIVEPACE_DEBUG"] && error instanceof Error) stderr.write(`${redact(String(error.stack))}\n`);
  return isUsage ? EXIT.usage : EXIT.trouble;
}

function explained(error: unknown): { isUsage: boolean; message: string; code: string } {
  if (error instanceof UsageError) return { isUsage: true, message: error.message, code: "USAGE" };
  const message = messageOf(error);
  if (!isHivepaceError(error)) return { isUsage: false, message, code: "UNEXPECTED" };
  if (error.code !== "INVALID_CONFIG") return { isUsage: false, message, code: error.code };
  const { option } = error as unknown as { option: string };
  const flag = NAMES[option];
  const named = flag === undefined ? message : message.replace(option, flag);
  return { isUsage: flag !== undefined, message: named, code: error.code };
}
