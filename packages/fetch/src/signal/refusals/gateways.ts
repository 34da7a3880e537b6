import type { RefusalFamily } from "./rule.ts";

/**
 * OpenRouter, LiteLLM and Portkey. Routers in front of other providers: their own limits, and the errors that they
 * pass on.
 *
 * @see https://openrouter.ai/docs/api/errors
 * @see https://docs.litellm.ai/docs/proxy/users
 * @see https://github.com/BerriAI/litellm/issues/14144
 * @see https://portkey.ai/docs/aigw/api-reference/inference-api/error-codes.md
 */
export const GATEWAYS: RefusalFamily = {
  rules: [
    // A limit that its owner has set on a key.
    { class: "quota_exhausted", text: /\bkey limit exceeded/i, at: "any-error" },
    {
      class: "quota_window_long",
      text: /\bkey limit exceeded \((?:dai|week|month)ly/i,
      at: "any-error",
      overrides: true,
    },
    // Credit that is bound by requests under way comes back when they end; OpenRouter answers 402 with the wait.
    { class: "rate_limited", code: /^openrouter_in_flight_budget$/, overrides: true },
    // LiteLLM, also with status 400.
    { class: "quota_exhausted", code: /^budget_exceeded$|^budgetexceedederror$/ },
    { class: "quota_exhausted", text: /budget has been exceeded|exceeded ?budget/i, at: "any-error", overrides: true },
    // Portkey's status for a budget that is used up. Fireworks has the same status for other things.
    { class: "quota_exhausted", text: /budget exhausted|usage limit exceeded/i, at: [412] },
  ],
};
