import type { RefusalClass } from "../provider-signal.ts";

/**
 * One row of the table that says why a provider refused a request. A row applies when all of its conditions hold. The
 * order of rows and files is irrelevant: of all rows that apply, the class that is highest in `PRECEDENCE` wins.
 */
export interface RefusalRule {
  readonly class: RefusalClass;
  /** Matches a code, type, status or reason in the body, lower case. Anchor the pattern if the whole code is meant. */
  readonly code?: RegExp;
  /** Matches the message. */
  readonly text?: RegExp;
  /**
   * Answers to which the row applies. "refusal": the status or a code says that a limit is the reason. "any-error": every
   * error, also a 400 or 403. "server-error": 5xx, and errors inside a 200. A list: only these statuses.
   *
   * @defaultValue "any-error" for rows with a `code`, else "refusal"
   */
  readonly at?: "refusal" | "any-error" | "server-error" | readonly number[];
  /** The row wins over all rows without this flag: for words that mean something else at this provider. */
  readonly overrides?: true;
}

/**
 * The rows of one family of providers, in addition to the general ones. The comment of each family names the providers,
 * and cites the public pages from which its rows were taken, as `@see`: data would be a part of every bundle.
 */
export interface RefusalFamily {
  readonly rules: readonly RefusalRule[];
}

/**
 * Classes, strongest evidence first. A request that can never fit stays too large however full the account is, and a
 * spent credit is not cured by a wait in the same answer.
 */
export const PRECEDENCE: readonly RefusalClass[] = [
  "request_too_large",
  "quota_exhausted",
  "ramp_limited",
  "not_entitled",
  "quota_window_long",
  "overloaded",
  "rate_limited",
];
