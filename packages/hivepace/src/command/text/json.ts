/**
 * Serialises a value to one line of JSON. Infinite numbers, which JSON lacks, become null, and so do undefined values.
 */
export function jsonLine(value: unknown): string {
  return `${JSON.stringify(value, (_, item: unknown) => (item === undefined ? null : item))}\n`;
}
