/** A command with its working directory and environment. */
export interface Command {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}

export type ControlSignal = "SIGTERM" | "SIGKILL" | "SIGSTOP" | "SIGCONT";

/** The command that runs a server in the foreground. */
export interface Launch extends Command {
  /** Replacement commands for signals, where the foreground process is not the server itself (Docker's client). */
  readonly signals?: Readonly<Record<ControlSignal, Command>>;
  /** Runs when the server is stopped permanently, also after the owner's death. */
  readonly cleanup?: Command;
  /** Extracts the port from the log, for a server that chooses its own port. */
  readonly portFromLog?: (log: string) => number | undefined;
}
