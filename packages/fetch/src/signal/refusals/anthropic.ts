import type { RefusalFamily } from "./rule.ts";

/**
 * @see https://docs.claude.com/en/api/errors
 * @see https://docs.claude.com/en/api/rate-limits
 */
export const ANTHROPIC: RefusalFamily = {
  name: "Anthropic",
  rules: [{ class: "quota_exhausted", code: /^enforced_spend_limit_reached$/ }],
};
