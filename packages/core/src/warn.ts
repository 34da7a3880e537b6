interface HasWarnings {
  process?: { emitWarning?(message: string, options: { type: string; code: string; detail?: string }): void };
  console?: { warn(message: string): void };
}

/** Says what must not be silent and is no error of the caller's: Node's own warnings, elsewhere the console. */
export function warn(code: string, message: string, cause?: unknown): void {
  const detail = cause instanceof Error ? cause.stack : undefined;
  const { process, console } = globalThis as HasWarnings;
  if (process?.emitWarning)
    process.emitWarning(message, { type: "HivepaceWarning", code, ...(detail === undefined ? {} : { detail }) });
  else console?.warn(`${code}: ${message}`);
}
