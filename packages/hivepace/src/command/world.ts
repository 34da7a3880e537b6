/** Where text goes. Node's `process.stdout` is one. */
export interface Screen {
  write(text: string): unknown;
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
}

/** Everything around a command. */
export interface World {
  readonly stdout: Screen;
  readonly stderr: Screen;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Aborted: end now. */
  readonly signal: AbortSignal;
  /** From here on Ctrl-C ends the process at once: for who computes without a pause and has nothing to close. */
  readonly endAtOnce?: (() => void) | undefined;
}

/** How a command ends. */
export const EXIT = {
  fine: 0,
  /** What was asked for does not hold, or something is wrong. */
  trouble: 1,
  usage: 2,
  interrupted: 130,
} as const;
