import { parseArgs } from "node:util";
import { UsageError } from "./usage-error.ts";

/** An option of a command: one description from which it is parsed and explained. */
interface OptionSpec {
  /** What follows it, for people: `<duration>`. Without, it is a switch. */
  readonly value?: string;
  readonly about: string;
  /** May be given several times. */
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

/** Throws a UsageError. */
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
    throw new UsageError(explained(error as Error));
  }
  const [extra] = parsed.positionals.slice(most);
  if (extra !== undefined) throw new UsageError(`there is no place for ${JSON.stringify(extra)} here`);
  return { values: parsed.values as Values<S>, positionals: parsed.positionals };
}

/** Node's own sentence names the option; what it advises beyond that is about other programs. */
function explained({ message }: Error): string {
  if (message.includes("--secret"))
    return "--secret is not an option: everybody on this machine could read it. Set HIVEPACE_SECRET in the environment";
  const first = message.split(/\.\s|\n/)[0] ?? "";
  return first.replace(/^Unknown option '(.+?)'.*$/, "there is no option $1 here").replace(/\.$/, "");
}
