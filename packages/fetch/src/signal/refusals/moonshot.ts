import type { RefusalFamily } from "./rule.ts";

/**
 * Moonshot (Kimi).
 *
 * @see https://platform.moonshot.ai/docs/api/chat#error-description
 * @see https://www.kimi.com/code/docs/en/kimi-code/error-reference.html
 */
export const MOONSHOT: RefusalFamily = {
  rules: [
    { class: "quota_exhausted", code: /^exceeded_current_quota_error$/ },
    { class: "overloaded", code: /^engine_overloaded_error$/ },
    { class: "rate_limited", code: /^rate_limit_reached_error$/ },
    // A coding plan renews its allowance every few hours, and with the billing cycle.
    { class: "quota_window_long", text: /usage limit for this (?:billing cycle|period)/i, at: "any-error" },
  ],
};
