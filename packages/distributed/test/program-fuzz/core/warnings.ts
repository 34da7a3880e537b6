/** The codes of a program's warnings, in order. */
export interface Warnings {
  readonly codes: readonly string[];
  /** Restores `process.emitWarning`. */
  stop(): void;
}

/** Captures warnings synchronously instead of emitting them, so that they can be checked. */
export function captureWarnings(): Warnings {
  const { emitWarning } = process;
  const codes: string[] = [];
  process.emitWarning = ((_: string, options?: { code?: string }) => {
    codes.push(options?.code ?? "none");
  }) as typeof emitWarning;
  return {
    codes,
    stop: () => {
      process.emitWarning = emitWarning;
    },
  };
}
