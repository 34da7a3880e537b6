import { InvalidConfigError } from "./errors.ts";

/**
 * Checks one option.
 *
 * @param rule - completes the sentence "`option` must be …"
 * @throws INVALID_CONFIG with the option, the rule and the value, unless `isRight`
 */
export function need(isRight: boolean, option: string, rule: string, value: unknown): asserts isRight {
  if (!isRight) throw new InvalidConfigError(option, rule, value);
}
