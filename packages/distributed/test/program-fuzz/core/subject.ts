import type { Warnings } from "./warnings.ts";

/**
 * A program as plain data, which can be generated from a seed, run, shrunk and printed. `setup` is the state before the
 * first command.
 */
export interface Program<Setup, Command> {
  readonly seed: number;
  readonly setup: Setup;
  readonly commands: readonly Command[];
}

/** Real objects in virtual time, with a reference model beside them. */
export interface World<Command> {
  /** Runs one command. Throws when a law is broken. */
  run(command: Command): Promise<void>;
  /** Checks the laws that always hold. */
  check(): void;
  /** Closes everything, and checks the laws that hold afterwards. */
  end(): Promise<void>;
}

/** An object of the public API under test. */
export interface Subject<Setup, Command> {
  readonly name: string;
  /** Generates a program; equal seeds give equal programs. */
  generate(seed: number): Program<Setup, Command>;
  open(program: Program<Setup, Command>, warnings: Warnings): Promise<World<Command>>;
  /** Slightly simpler setups, the simplest first. */
  simpler(setup: Setup): Iterable<Setup>;
}
