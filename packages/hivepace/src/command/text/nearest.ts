/** Returns the most similar name; `undefined` when none is similar. */
export function nearest(word: string, names: readonly string[]): string | undefined {
  let [best, least] = [undefined as string | undefined, Infinity];
  for (const name of names) {
    const distance = distanceOf(word.toLowerCase(), name);
    if (distance < least) [best, least] = [name, distance];
  }
  return least <= Math.max(1, Math.floor(word.length / 3)) ? best : undefined;
}

/** Returns the Levenshtein distance: the number of letters to add, remove or replace. */
export function distanceOf(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, i) => i);
  for (let i = 1; i <= one.length; i++) {
    const next = [i];
    for (let j = 1; j <= other.length; j++) {
      const change = (row[j - 1] ?? 0) + (one[i - 1] === other[j - 1] ? 0 : 1);
      next[j] = Math.min(change, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1);
    }
    row = next;
  }
  return row[other.length] ?? Infinity;
}
