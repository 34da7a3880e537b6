import { redact, redactOption } from "@hivepace/core/internal";

/** An error in the command line. The message explains it in one line, without passwords. */
export class UsageError extends Error {
  override readonly name = "UsageError";

  constructor(message: string) {
    super(redact(message));
  }
}

export function refuse(option: string, rule: string, value: unknown): never {
  throw new UsageError(`${option} must be ${rule}, got ${JSON.stringify(redactOption(option, value))}`);
}
