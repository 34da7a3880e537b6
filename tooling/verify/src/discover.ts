import { pathToFileURL } from "node:url";
import type { Case, CaseInfo } from "./case.ts";
import { filesBelow } from "./files.ts";

/** Returns all cases of the repository, in a stable order. Throws when two have the same id. */
export async function discover(root: string): Promise<CaseInfo[]> {
  const all: CaseInfo[] = [];
  const known = new Map<string, string>();
  for (const file of filesBelow(root, ".cases.ts"))
    for (const { id, seconds, isQuick = false } of await casesOf(file)) {
      const earlier = known.get(id);
      if (earlier !== undefined) throw new Error(`the case ${id} exists twice, in ${earlier} and in ${file}`);
      known.set(id, file);
      all.push({ id, seconds, isQuick, file });
    }
  return all;
}

/** The cases that a file exports. */
export async function casesOf(file: string): Promise<readonly Case[]> {
  const { cases } = (await import(pathToFileURL(file).href)) as { cases?: readonly Case[] };
  if (!Array.isArray(cases)) throw new Error(`${file} must export an array named "cases"`);
  return cases;
}
