/** Whether the running Node is this version or a later one. */
export function nodeIsAtLeast(version: string): boolean {
  const [own, wanted] = [process.versions.node, version].map((text) => text.split(".").map(Number));
  for (const [i, part] of (wanted ?? []).entries()) {
    const difference = (own?.[i] ?? 0) - part;
    if (difference !== 0) return difference > 0;
  }
  return true;
}
