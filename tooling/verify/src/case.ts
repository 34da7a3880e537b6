/**
 * A check that is too long for the unit tests. Files named `*.cases.ts` export an array `cases` of them; the runner finds
 * those files, and runs each case in a worker process that runs nothing else at the same time.
 *
 * A case must end by itself: its length is bounded by virtual time and by a number of events, never by a wall clock, so
 * that a slow machine makes a run longer and never red.
 */
export interface Case {
  /** Path-like name, unique in the repository and stable: `scenarios/steady/a-limit-of-1/10-agents/seed-1`. */
  readonly id: string;
  /** Estimated seconds on one quiet core. Long cases start first, and a time box leaves out what does not fit. */
  readonly seconds: number;
  /** Whether the case is part of `test`, besides `verify`. */
  readonly isQuick?: boolean;
  /** Resolves when the check passes. Rejects with an error that names the violation. */
  readonly run: () => CaseResult | Promise<CaseResult>;
}

export interface CaseResult {
  /** A description in one line, for human readers. */
  readonly summary?: string;
  /** Measured values for the report. */
  readonly figures?: Readonly<Record<string, number>>;
}

/** A case without its code, as the parent process knows it. */
export interface CaseInfo {
  readonly id: string;
  readonly seconds: number;
  readonly isQuick: boolean;
  /** Absolute path of the file that exports the case. */
  readonly file: string;
}

/** The first part of a case's id. */
export function suiteOf({ id }: { readonly id: string }): string {
  return id.split("/", 1)[0] as string;
}
