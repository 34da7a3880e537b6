import type { Runtime } from "./runtimes.ts";

/** A full release: a canary or a release candidate has a suffix. */
const RELEASE = /^(\d+)\.(\d+)\.(\d+)$/;

/**
 * The newest release among `versions` that belongs to the line of a runtime: the same major version for a Node, any for
 * the others. Undefined when there is none.
 */
export function newestOf({ kind, version }: Runtime, versions: readonly string[]): string | undefined {
  const [major] = version.split(".");
  return versions
    .filter((one) => RELEASE.test(one) && (kind !== "node" || one.startsWith(`${major}.`)))
    .sort(compareVersions)
    .at(-1);
}

/** Major versions of Node with releases that are newer than all pinned ones: the next candidates for the table. */
export function newerMajors(pinned: readonly Runtime[], versions: readonly string[]): number[] {
  const newest = Math.max(...pinned.filter(({ kind }) => kind === "node").map(({ version }) => majorOf(version)));
  const majors = versions.filter((one) => RELEASE.test(one)).map(majorOf);
  return [...new Set(majors)].filter((major) => major > newest).sort((a, b) => a - b);
}

function compareVersions(a: string, b: string): number {
  const [left, right] = [a, b].map((version) => version.split(".").map(Number)) as [number[], number[]];
  const at = left.findIndex((part, i) => part !== right[i]);
  return at === -1 ? 0 : (left[at] as number) - (right[at] as number);
}

function majorOf(version: string): number {
  return Number(version.split(".")[0]);
}
