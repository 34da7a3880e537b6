/** A command with what it needs around it. */
export interface Command {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}

export type ControlSignal = "SIGTERM" | "SIGKILL" | "SIGSTOP" | "SIGCONT";

/** How one server is run in the foreground. */
export interface Launch extends Command {
  /** Commands that stand for the signals where the foreground process is not the server itself (Docker's client). */
  readonly signals?: Readonly<Record<ControlSignal, Command>>;
  /** Run when the server is given up for good, also after our death. */
  readonly cleanup?: Command;
  /** For a server that chooses its own port and says so in its log. */
  readonly portFromLog?: (log: string) => number | undefined;
}
