import type { Warnings } from "./warnings.ts";

/**
 * A program as plain data: it can be generated from a seed, run, made smaller and printed. `setup` is what exists before
 * the first command.
 */
export interface Program<Setup, Command> {
  readonly seed: number;
  readonly setup: Setup;
  readonly commands: readonly Command[];
}

/** Real objects in virtual time, with the reference model beside them. */
export interface World<Command> {
  /** Runs one command. Throws when a law is broken. */
  run(command: Command): Promise<void>;
  /** Checks the laws that hold at any time. */
  check(): void;
  /** Ends everything, and checks the laws that hold afterwards. */
  end(): Promise<void>;
}

/** An object of the public API, as the fuzzer sees it. */
export interface Subject<Setup, Command> {
  readonly name: string;
  /** The same seed gives the same program. */
  generate(seed: number): Program<Setup, Command>;
  open(program: Program<Setup, Command>, warnings: Warnings): Promise<World<Command>>;
  /** Setups that are a little simpler than this one, the simplest first. */
  simpler(setup: Setup): Iterable<Setup>;
}
