/** The codes of the warnings of a program, in their order. */
export interface Warnings {
  readonly codes: readonly string[];
  /** Lets warnings go to the process again. */
  stop(): void;
}

/** Keeps warnings from the process, synchronously, so that a program can be judged by them. */
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
