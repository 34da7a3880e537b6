import { need } from "../need.ts";
import { LONGEST_STRIDE, SLOW_REQUESTS, SLOW_TOKENS, STRIDE_SHIFT } from "./layout.ts";

/**
 * Returns the word that stores a limit. A limit above the largest possible count is stored as no limit; a limit below 1
 * is stored as one in several windows.
 */
export function limitWord(limit: number | undefined, most: number): number {
  if (limit === undefined) return most;
  return isSlow(limit) ? 1 : Math.min(Math.floor(limit), most);
}

/**
 * Returns the flags of a record with these limits. A limit of 0.5 per window cannot be counted in one window, so the
 * whole record is counted over as many windows as its smaller limit needs to allow one. The other limit is not scaled:
 * the record may allow less than that limit, never more.
 */
export function strideFlags(requests: number | undefined, tokens: number | undefined): number {
  const slowest = Math.min(...[requests, tokens].filter(isSlow));
  if (slowest === Infinity) return 0;
  // A rounding error of the quotient must not add a whole window.
  const windows = Math.min(LONGEST_STRIDE, Math.ceil(1 / slowest - 1e-9));
  return (windows << STRIDE_SHIFT) | (isSlow(requests) ? SLOW_REQUESTS : 0) | (isSlow(tokens) ? SLOW_TOKENS : 0);
}

function isSlow(limit: number | undefined): limit is number {
  return limit !== undefined && limit > 0 && limit < 1;
}

/** Converts a stored limit into the value shown to users; no limit is Infinity. */
export function limitOf(word: number, most: number): number {
  return word === most ? Infinity : word;
}

/**
 * Returns a number of tokens, rounded up to a whole one. The first test recognises whole numbers, the usual case,
 * without a call.
 */
export function checkTokens(option: string, value: number): number {
  return (value | 0) === value && value >= 0 ? value : wholeTokens(option, value);
}

/** Checks the input and output tokens of a request before anything is counted. */
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
 * Checks an id or a model. Record names join them by a NUL, so neither may contain one. Stores use them as names as
 * well and cannot encode half of a surrogate pair.
 */
export function checkId(option: string, value: unknown): void {
  const isId = typeof value === "string" && value !== "" && !/[\0\p{Cs}]/u.test(value);
  need(isId, option, "a well-formed string that is not empty and has no NUL in it", value);
}
