/** The command line is wrong; the message says what about it, in one line. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

export function refuse(option: string, rule: string, value: unknown): never {
  throw new UsageError(`${option} must be ${rule}, got ${JSON.stringify(value)}`);
}
