import type { Row, Wanted } from "./row.ts";

/** One call of what is measured. A call that yields `false` was refused, and a refusal ends the benchmark. */
export type SyncOp = () => boolean;
export type AsyncOp = () => Promise<unknown>;

/** What a suite may know of how it was started. */
export interface RunParameters {
  readonly quick: boolean;
  readonly rounds: number;
  readonly warmUpRounds: number;
  /** How long each contender runs in each round, about. */
  readonly sliceMs: number;
  readonly seed: number;
}

/** One line of the table: something that is called over and over. */
export interface Contender<Op> {
  readonly name: string;
  /** What a reader must know to judge the figure. */
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
  /** No contender can have refused or delayed anything while it was asked for less than this. */
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

/** Anything else that ends in rows. */
export interface FreeSuite extends Named {
  readonly kind: "free";
  measure(parameters: RunParameters): Promise<Row[]>;
}

export type Suite = SyncSuite | AsyncSuite | FreeSuite;
