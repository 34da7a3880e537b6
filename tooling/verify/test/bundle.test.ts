import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { withReplacement } from "../src/bundle.ts";

let folder: string;
const file = (name: string): string => join(folder, name);
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "hivepace-bundle-test-"));
  await writeFile(
    file("inner.ts"),
    "export const one = (): number => 1;\nexport const two = (): number => one() + one();\n",
  );
  await writeFile(
    file("outer.ts"),
    'import { one, two } from "./inner.ts";\nexport const ones = () => one();\nexport const twos = () => two();\n',
  );
});
afterEach(() => rm(folder, { recursive: true, force: true }));

interface Outer {
  ones(): number;
  twos(): number;
}

test("importers get the replaced export, and all others as they are", async () => {
  const exports = ({ one }: Readonly<Record<string, unknown>>) => ({ one: () => 10 * (one as () => number)() });
  const { ones, twos } = await withReplacement<Outer>(file("outer.ts"), { file: file("inner.ts"), exports });
  expect([ones(), twos()]).toEqual([10, 2]);
});

test("without a replacement the copy behaves as the original", async () => {
  const { ones, twos } = await withReplacement<Outer>(file("outer.ts"));
  expect([ones(), twos()]).toEqual([1, 2]);
});

test("a replaced name that the module does not export is an error", async () => {
  const replacement = { file: file("inner.ts"), exports: () => ({ three: () => 3 }) };
  await expect(withReplacement(file("outer.ts"), replacement)).rejects.toThrow("does not export three");
});
