import type { RefusalFamily } from "./rule.ts";

/**
 * Anthropic.
 *
 * @see https://docs.claude.com/en/api/errors
 * @see https://docs.claude.com/en/api/rate-limits
 */
export const ANTHROPIC: RefusalFamily = {
  rules: [{ class: "quota_exhausted", code: /^enforced_spend_limit_reached$/ }],
};
