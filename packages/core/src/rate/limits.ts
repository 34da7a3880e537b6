import { InvalidConfigError } from "../errors.ts";

/** Throws INVALID_CONFIG unless it is as it must be. */
export function need(isRight: boolean, option: string, rule: string, value: unknown): void {
  if (!isRight) throw new InvalidConfigError(option, rule, value);
}

/** A limit as it stands in memory. More than can be counted is none. */
export function limitWord(limit: number | undefined, most: number): number {
  return limit === undefined ? most : Math.min(Math.floor(limit), most);
}

/** A limit from memory, as people read it. */
export function limitOf(word: number, most: number): number {
  return word === most ? Infinity : word;
}

/** Tokens are whole: a part of one counts as one. Almost all are, and then there is nothing to do. */
export function checkTokens(option: string, value: number): number {
  return (value | 0) === value && value >= 0 ? value : wholeTokens(option, value);
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
