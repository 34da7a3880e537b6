import { InvalidConfigError } from "../errors.ts";
import { LONGEST_STRIDE, SLOW_REQUESTS, SLOW_TOKENS, STRIDE_SHIFT } from "./layout.ts";

/** Throws INVALID_CONFIG unless it is as it must be. */
export function need(isRight: boolean, option: string, rule: string, value: unknown): void {
  if (!isRight) throw new InvalidConfigError(option, rule, value);
}

/** A limit as it stands in memory. More than can be counted is none; less than one in a window is one in several. */
export function limitWord(limit: number | undefined, most: number): number {
  if (limit === undefined) return most;
  return isSlow(limit) ? 1 : Math.min(Math.floor(limit), most);
}

/**
 * The flags of a record with these limits. A limit of 0.5 a window cannot be counted in one window: the whole record is
 * then counted over as many windows as the smaller of its limits needs for one. Its other limit is kept as it is, which
 * allows less than it could and never more.
 */
export function strideFlags(requests: number | undefined, tokens: number | undefined): number {
  const slowest = Math.min(...[requests, tokens].filter(isSlow));
  if (slowest === Infinity) return 0;
  // What floating point adds to a quotient must not cost a whole window.
  const windows = Math.min(LONGEST_STRIDE, Math.ceil(1 / slowest - 1e-9));
  return (windows << STRIDE_SHIFT) | (isSlow(requests) ? SLOW_REQUESTS : 0) | (isSlow(tokens) ? SLOW_TOKENS : 0);
}

function isSlow(limit: number | undefined): limit is number {
  return limit !== undefined && limit > 0 && limit < 1;
}

/** A limit from memory, as people read it. */
export function limitOf(word: number, most: number): number {
  return word === most ? Infinity : word;
}

/** Tokens are whole: a part of one counts as one. Almost all are, and then there is nothing to do. */
export function checkTokens(option: string, value: number): number {
  return (value | 0) === value && value >= 0 ? value : wholeTokens(option, value);
}

/** Checks the parts of a request's tokens before anything is counted. */
export function checkParts(inputTokens: number | undefined, outputTokens: number | undefined): void {
  if (inputTokens !== undefined) checkTokens("inputTokens", inputTokens);
  if (outputTokens !== undefined) checkTokens("outputTokens", outputTokens);
}

function wholeTokens(option: string, value: number): number {
  need(value >= 0 && value < Infinity, option, "a finite number of 0 or more", value);
  return Math.ceil(value);
}

export function checkLimit(option: string, value: unknown): void {
  const isLimit = value === undefined || (typeof value === "number" && value >= 0);
  need(isLimit, option, "a number of 0 or more, or absent", value);
}

/**
 * An id or a model. They are joined by a NUL in the names of records, so none may be in them; and they become names at
 * stores, which have no way to write half of a surrogate pair.
 */
export function checkId(option: string, value: unknown): void {
  const isId = typeof value === "string" && value !== "" && !/[\0\p{Cs}]/u.test(value);
  need(isId, option, "a well-formed string that is not empty and has no NUL in it", value);
}
