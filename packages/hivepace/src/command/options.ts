import { parseArgs } from "node:util";
import { nearestOf } from "@hivepace/core/internal";
import { UsageError } from "./usage-error.ts";

/** An option of a command: one description from which it is parsed and documented. */
interface OptionSpec {
  /** Placeholder of the value in the help: `<duration>`. An option without it is a switch. */
  readonly value?: string;
  /** One line for the help. */
  readonly about: string;
  /** Whether the option may be given several times. */
  readonly isMany?: true;
}

export type OptionSpecs = Readonly<Record<string, OptionSpec>>;

export type Values<S extends OptionSpecs> = {
  readonly [K in keyof S]?: S[K] extends { value: string }
    ? S[K] extends { isMany: true }
      ? readonly string[]
      : string
    : boolean;
};

export interface Parsed<S extends OptionSpecs> {
  readonly values: Values<S>;
  readonly positionals: readonly string[];
}

/**
 * Parses command-line arguments. `most`: the maximum number of positional arguments.
 *
 * @throws UsageError when an option or an argument is not accepted.
 */
export function parseOptions<S extends OptionSpecs>(specs: S, args: readonly string[], most = 0): Parsed<S> {
  const options = Object.fromEntries(
    Object.entries(specs).map(([name, { value, isMany }]) => [
      name,
      { type: value === undefined ? ("boolean" as const) : ("string" as const), multiple: isMany ?? false },
    ]),
  );
  let parsed: ReturnType<typeof parseArgs>;
  try {
    parsed = parseArgs({ args: [...args], options, allowPositionals: true });
  } catch (error) {
    throw new UsageError(explained(error as Error, Object.keys(specs)));
  }
  const [extra] = parsed.positionals.slice(most);
  if (extra !== undefined) throw new UsageError(`unexpected argument ${JSON.stringify(extra)}`);
  return { values: parsed.values as Values<S>, positionals: parsed.positionals };
}

/**
 * Returns the first sentence of Node's message, which names the option; the rest is advice that does not apply here.
 */
function explained({ message }: Error, known: readonly string[]): string {
  if (message.includes("--secret"))
    return "--secret is not an option, because every user of this machine could read it. Set HIVEPACE_SECRET in the environment";
  const [, unknown] = /^Unknown option '(.+?)'/.exec(message) ?? [];
  if (unknown !== undefined) {
    const nearest = nearestOf(unknown, known);
    return `unknown option ${unknown}${nearest === undefined ? "" : `: did you mean --${nearest}?`}`;
  }
  const [, valueless] = /^Option '(?:-\w, )?(--[\w-]+).*' argument (?:missing|is ambiguous)/.exec(message) ?? [];
  if (valueless !== undefined) return `${valueless} needs a value`;
  return (message.split(/\.\s|\n/)[0] ?? "").replace(/\.$/, "");
}
