/** One object in one line. What is infinite has no number in JSON: it is null. */
export function jsonLine(value: unknown): string {
  return `${JSON.stringify(value, (_, item: unknown) => (item === undefined ? null : item))}\n`;
}
