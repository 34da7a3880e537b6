import { redact } from "./redact.ts";

interface HasWarnings {
  process?: { emitWarning?(message: string, options: { type: string; code: string; detail?: string }): void };
  console?: { warn(message: string): void };
}

/**
 * Emits an operational warning that is not an error of the caller: as a Node process warning, elsewhere on the console.
 */
export function warn(code: string, message: string, cause?: unknown): void {
  const detail = cause instanceof Error && cause.stack !== undefined ? redact(cause.stack) : undefined;
  const text = redact(message);
  const { process, console } = globalThis as HasWarnings;
  if (process?.emitWarning)
    process.emitWarning(text, { type: "HivepaceWarning", code, ...(detail === undefined ? {} : { detail }) });
  else console?.warn(`${code}: ${text}`);
}
