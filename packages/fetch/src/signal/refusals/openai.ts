import type { RefusalFamily } from "./rule.ts";

/**
 * OpenAI.
 *
 * @see https://developers.openai.com/api/docs/guides/error-codes
 * @see https://developers.openai.com/api/docs/guides/flex-processing
 * @see https://developers.openai.com/api/docs/guides/batch
 */
export const OPENAI: RefusalFamily = {
  rules: [
    // Flex processing has no capacity right now. The account is within its limits, and the request is not charged.
    { class: "overloaded", code: /^resource_unavailable$/, at: [200, 429, 503], overrides: true },
    // The usage limit that OpenAI assigns to an organization.
    { class: "quota_exhausted", code: /^(?:organization|project)_usage_limit_exceeded$/ },
    // The queue of batches is full until batches complete, which takes up to a day. Chat traffic is not concerned.
    { class: "quota_window_long", code: /^token_limit_exceeded$/, at: [429], overrides: true },
    { class: "quota_window_long", text: /\benqueued (?:tokens?|batches)\b/i, at: "any-error", overrides: true },
  ],
};
