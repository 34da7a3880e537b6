import type { CaseInfo } from "./case.ts";

export interface Selection {
  /** Selects only the cases that are part of `test`. */
  readonly isQuick: boolean;
  /** Only cases whose id contains one of these texts; all when empty. */
  readonly only: readonly string[];
  /** The part of the cases that this process runs, so that several machines can share them. */
  readonly shard: { readonly index: number; readonly of: number };
  /** Start of the rotation; undefined disables the rotation and starts the longest cases first. */
  readonly rotation: number | undefined;
}

/** Returns the cases to run, in the order in which they start. */
export function select(all: readonly CaseInfo[], { isQuick, only, shard, rotation }: Selection): CaseInfo[] {
  const wanted = all.filter(
    (each) => (!isQuick || each.isQuick) && (only.length === 0 || only.some((text) => each.id.includes(text))),
  );
  const mine = mixed(wanted).filter((_, i) => i % shard.of === shard.index - 1);
  if (rotation === undefined) return mine.sort((a, b) => b.seconds - a.seconds);
  return rotated(mine, rotation);
}

/** A fixed order that separates related cases: sorted by a hash of the id. */
function mixed(cases: readonly CaseInfo[]): CaseInfo[] {
  return [...cases].sort((a, b) => hash(a.id) - hash(b.id) || (a.id < b.id ? -1 : 1));
}

/**
 * Starts at another position for each number. Consecutive numbers are a golden ratio of the whole length apart, so that
 * a few consecutive time boxes cover all cases nearly evenly.
 */
function rotated(cases: readonly CaseInfo[], rotation: number): CaseInfo[] {
  const total = cases.reduce((sum, { seconds }) => sum + seconds, 0);
  const start = ((rotation * GOLDEN_RATIO) % 1) * total;
  let [passed, first] = [0, 0];
  while (first < cases.length - 1 && passed + (cases[first] as CaseInfo).seconds <= start) {
    passed += (cases[first] as CaseInfo).seconds;
    first++;
  }
  return [...cases.slice(first), ...cases.slice(0, first)];
}

const GOLDEN_RATIO = (Math.sqrt(5) - 1) / 2;

/** FNV-1a, 32 bits. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193);
  return value >>> 0;
}
