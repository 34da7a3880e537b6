import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import type { Case } from "./case.ts";
import { filesBelow } from "./files.ts";
import { runNode } from "./program.ts";

/** Each file of Vitest's project `slow` is a case: tests of whole swarms on real brokers, which take minutes. */
const root = fileURLToPath(new URL("../../..", import.meta.url));
const vitest = join(root, "node_modules/vitest/vitest.mjs");
const SUFFIX = ".slow.test.ts";

export const cases: readonly Case[] = ["packages", "apps", "tooling"].flatMap((folder) =>
  filesBelow(join(root, folder), SUFFIX).map((file) => ({
    id: `slow-tests/${relative(root, file).slice(0, -SUFFIX.length)}`,
    seconds: 150,
    run: async () => {
      await runNode([vitest, "run", "--root", root, "--project", "slow", relative(root, file)]);
      return {};
    },
  })),
);
