import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { commands } from "../src/command/commands.ts";
import { globalHelp } from "../src/command/run-command.ts";

const document = fileURLToPath(new URL("../../../docs/command-line.md", import.meta.url));

/** Update the document with `npx vitest run --project unit packages/hivepace/test/documentation -u`. */
test("the documentation of the command line equals the help of the commands", async () => {
  const parts = [
    "# The command line",
    "Run `npx hivepace <command>`, or `hivepace <command>` where it is installed. The output of `--help`:",
    block(globalHelp),
  ];
  for (const [name, { load }] of Object.entries(commands)) parts.push(`## \`${name}\``, block((await load()).help));
  await expect(`${parts.join("\n\n")}\n`).toMatchFileSnapshot(document);
});

function block(text: string): string {
  return `\`\`\`text\n${text.trimEnd()}\n\`\`\``;
}
