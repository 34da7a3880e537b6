import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { root } from "./workspace.ts";

/** The Redis scripts, and the TypeScript module that contains their text, so that no file is read at run time. */
const folder = join(root, "packages/sync-redis/src");
export const generatedFile = join(folder, "scripts.generated.ts");

const SCRIPTS = { ALLOCATE_LUA: "scripts/allocate.lua", SYNC_LUA: "scripts/sync.lua" };

const HEAD = `// Generated from scripts/*.lua by tooling/checks/src/generate-lua.ts. Do not edit: run "npx -y pnpm@12.18.0 lua".\n`;

/** Returns the lines of a script without comments and empty lines, with its included files at the include's indentation. */
function linesOf(file: string): string[] {
  return readFileSync(file, "utf8")
    .split("\n")
    .flatMap((line) => {
      const [, indent, included] = /^( *)-- @include (\S+)$/.exec(line) ?? [];
      if (included !== undefined) return linesOf(join(dirname(file), included)).map((one) => indent + one);
      return /^\s*(--|$)/.test(line) ? [] : [line];
    });
}

/**
 * Returns the content of the generated module.
 *
 * @throws Error when a script contains a character that a template literal would change.
 */
export function generateModule(): string {
  const parts = Object.entries(SCRIPTS).map(([name, file]) => {
    const text = linesOf(join(folder, file)).join("\n");
    if (/[`\\]|\$\{/.test(text)) throw new Error(`${file} contains a backtick, a backslash or a template expression`);
    return `export const ${name} = \`\n${text}\n\`;\n`;
  });
  return [HEAD, ...parts].join("\n");
}
