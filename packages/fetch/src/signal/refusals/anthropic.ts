import type { RefusalFamily } from "./rule.ts";

export const ANTHROPIC: RefusalFamily = {
  name: "Anthropic",
  sources: ["https://docs.claude.com/en/api/errors", "https://docs.claude.com/en/api/rate-limits"],
  rules: [{ class: "quota_exhausted", code: /^enforced_spend_limit_reached$/ }],
};
