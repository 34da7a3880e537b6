/** A destination for text, such as `process.stdout`. */
export interface Screen {
  write(text: string): unknown;
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
}

/** The environment of a command. */
export interface World {
  readonly stdout: Screen;
  readonly stderr: Screen;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Aborted when the command should end. */
  readonly signal: AbortSignal;
  /**
   * Lets signals end the process at once from now on; for commands that compute without a pause and have nothing to
   * close.
   */
  readonly endAtOnce?: (() => void) | undefined;
}

/** The exit codes of commands. */
export const EXIT = {
  fine: 0,
  /** The request failed, or a problem was found. */
  trouble: 1,
  usage: 2,
  interrupted: 130,
} as const;
