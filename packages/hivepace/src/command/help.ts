import type { OptionSpecs } from "./options.ts";
import { wrap } from "./text/wrap.ts";

export interface Manual {
  readonly name: string;
  /** Positional arguments, for the usage line: `<resource>`. */
  readonly arguments?: string;
  /** One line, also shown in the list of commands. */
  readonly about: string;
  readonly options: OptionSpecs;
  /** Further explanations, in sentences. */
  readonly more: string;
  readonly examples: readonly string[];
}

const WIDTH = 100;

/** Returns the text of `hivepace <command> --help`. */
export function helpText({ name, arguments: given, about, options, more, examples }: Manual): string {
  const flags = Object.entries(options).map(([option, { value, about: text }]) => [
    `--${option}${value === undefined ? "" : ` ${value}`}`,
    text,
  ]);
  const width = Math.max(...flags.map(([flag = ""]) => flag.length)) + 4;
  const lines = flags.map(([flag = "", text = ""]) => {
    const [first = "", ...rest] = wrap(text, WIDTH - width);
    return [`  ${flag}`.padEnd(width) + first, ...rest.map((line) => " ".repeat(width) + line)].join("\n");
  });
  return [
    `hivepace ${name}${given === undefined ? "" : ` ${given}`} [options]`,
    `\n${wrap(`${about}.`, WIDTH).join("\n")}\n`,
    lines.join("\n"),
    `\n${more
      .split("\n")
      .map((paragraph) => wrap(paragraph, WIDTH).join("\n"))
      .join("\n")}\n`,
    ...examples.map((example) => `  $ ${example}`),
  ].join("\n");
}
