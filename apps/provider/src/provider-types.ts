import type { Clock } from "@hivepace/core";
import type { Answer } from "./protocol.ts";
import type { Sent } from "./record.ts";
import type { Tally } from "./tally.ts";
import type { Limits, WindowKind } from "./window-limit.ts";

export interface ProviderOptions extends Limits {
  /**
   * The window of `rpm` and `tpm`.
   * @defaultValue 60,000, a minute
   */
  readonly windowMs?: number | undefined;
  /**
   * The algorithm of the limit.
   * @defaultValue "sliding"
   */
  readonly window?: WindowKind | undefined;
  /**
   * Whether a request refused by the limit counts as a request, as OpenAI documents it: "unsuccessful requests
   * contribute to your per-minute limit".
   * @defaultValue false
   */
  readonly countsRefused?: boolean | undefined;
  /**
   * Time until a response begins, in milliseconds.
   * @defaultValue 0
   */
  readonly latencyMs?: number | (() => number) | undefined;
  /**
   * Time between the events of a stream, in milliseconds.
   * @defaultValue 0
   */
  readonly eventIntervalMs?: number | undefined;
  /**
   * Length of responses, unless the request allows less.
   * @defaultValue 16
   */
  readonly outputTokens?: number | undefined;
  /**
   * Number of the newest requests to keep in the log.
   * @defaultValue all requests
   */
  readonly logSize?: number | undefined;
  /**
   * Whether responses carry rate-limit headers.
   * @defaultValue true
   */
  readonly limitHeaders?: boolean | undefined;
  readonly port?: number | undefined;
  readonly clock?: Clock | undefined;
}

/** A failure instead of a response; "overloaded-mid-stream" fails after a third of a stream. */
export type Failure =
  | "overloaded"
  | "overloaded-mid-stream"
  | "rate-limited"
  | "spent"
  | "server-error"
  | "hang-up"
  | Answer;

export interface FakeProvider {
  /** Origin of the provider. Append the path of the SDK: `/v1` for OpenAI's. */
  readonly url: string;
  /** The requests so far, or the newest of them (`logSize`), in order of arrival. */
  readonly log: readonly Sent[];
  /** Totals since the start, of all requests and of each agent, independent of `logSize`. */
  readonly tally: Tally;
  readonly agents: ReadonlyMap<string, Tally>;
  /** Returns the maximum accepted in any interval of this length, as far as the log goes back. */
  largestWindow(windowMs?: number): { requests: number; tokens: number };
  /**
   * The maximum sent in any window since the start, accepted or not, as a fraction of the limit: above 1, the limit was
   * exceeded.
   */
  readonly peak: number;
  /** Returns the current limits and their usage. */
  state(): ProviderState;
  /** Changes the limits; usage is unchanged. */
  setLimits(limits: Limits): void;
  /** Makes the next requests fail, one each. They consume no limit. */
  failNext(...failures: readonly Failure[]): void;
  close(): Promise<void>;
}

export interface ProviderState {
  readonly windowMs: number;
  readonly rpm: number | undefined;
  readonly tpm: number | undefined;
  /** Usage in the current window; 0 without a limit. */
  readonly usedRequests: number;
  readonly usedTokens: number;
}
