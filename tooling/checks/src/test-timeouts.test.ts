import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { committable, root } from "./workspace.ts";

/** The minimum timeout of waits that only end hanging tests: a busy machine may take minutes for seconds of work. */
const LEAST_MS = 300_000;
/** A test whose subject is a timeout. */
const EXEMPT = "tooling/test-kit/test/vitest-setup.test.ts";

test("no test sets a timeout that a busy machine could reach", () => {
  const found: string[] = [];
  for (const file of committable(/\.test\.ts$/)) {
    if (file === EXEMPT) continue;
    const text = readFileSync(join(root, file), "utf8");
    for (const [line, ms = ""] of text.matchAll(/^\}, ([\d_]+)\);$|^ {2,4}\}, ([\d_]{5,})\);$/gm))
      if (Number((ms || line.replace(/[^\d]/g, "")).replaceAll("_", "")) < LEAST_MS)
        found.push(`${file}: ${line.trim()}`);
    for (const [line, ms = ""] of text.matchAll(/waitFor\([\s\S]*?\{ timeout: ([\d_]+)/g))
      if (Number(ms.replaceAll("_", "")) < LEAST_MS) found.push(`${file}: ${line.slice(-60)}`);
  }
  expect(found).toEqual([]);
});
