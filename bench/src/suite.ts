import type { Row, Wanted } from "./row.ts";

/** One call of the measured operation. A call that returns `false` was refused, and a refusal ends the benchmark. */
export type SyncOp = () => boolean;
export type AsyncOp = () => Promise<unknown>;

/** The parameters of the run, as suites see them. */
export interface RunParameters {
  readonly quick: boolean;
  readonly rounds: number;
  readonly warmUpRounds: number;
  /** Approximate duration of each contender in each round. */
  readonly sliceMs: number;
  readonly seed: number;
}

/** One line of the table: an operation that is called repeatedly. */
export interface Contender<Op> {
  readonly name: string;
  /** Information that a reader needs to judge the figure. */
  readonly note?: string;
  /** Called once, before the warm-up. */
  setup(): Prepared<Op>;
}

interface Prepared<Op> {
  readonly op: Op;
  /** Requests made by one call of `op`; the table shows the time of one request. Default: 1. */
  readonly requests?: number;
  close?(): void | Promise<void>;
}

/** A claim on the ratio of two contenders' times. */
interface WantedRatio extends Pick<Wanted, "direction" | "limit"> {
  readonly contender: string;
  readonly against: string;
}

interface Named {
  readonly name: string;
  /** One sentence above the table. */
  readonly title: string;
}

interface Loops<Op> extends Named {
  readonly reference: string;
  readonly contenders: readonly Contender<Op>[];
  readonly wanted: readonly WantedRatio[];
  /** The number of requests below which no contender can refuse or delay anything. */
  readonly capacity: number;
}

/** Contenders side by side, called in a plain loop. */
export interface SyncSuite extends Loops<SyncOp> {
  readonly kind: "sync";
}

/** Contenders side by side, each call awaited before the next. */
export interface AsyncSuite extends Loops<AsyncOp> {
  readonly kind: "async";
}

/** Any other measurement that returns rows. */
export interface FreeSuite extends Named {
  readonly kind: "free";
  measure(parameters: RunParameters): Promise<Row[]>;
}

export type Suite = SyncSuite | AsyncSuite | FreeSuite;
