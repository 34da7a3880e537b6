import type { RefusalFamily } from "./rule.ts";

/**
 * Fireworks, Together, Replicate, Groq, Mistral, NVIDIA NIM. Hosts of open models. The general rows cover most of
 * their answers.
 *
 * @see https://docs.fireworks.ai/guides/inference-error-codes
 * @see https://docs.together.ai/docs/error-codes
 * @see https://replicate.com/docs/topics/predictions/rate-limits
 * @see https://console.groq.com/docs/flex-processing
 * @see https://github.com/QuantumNous/new-api/issues/6619
 * @see https://github.com/tashfeenahmed/freellmapi/issues/522
 * @see https://github.com/GordeyZuev/LEAP/issues/6
 */
export const HOSTS: RefusalFamily = {
  rules: [
    // Fireworks suspends an account that has reached its spending limit or not paid.
    { class: "quota_exhausted", text: /account .{0,80}\bsuspended/is, at: [412] },
    // Its "usage limits" are those of serverless models: requests and tokens of a minute.
    { class: "rate_limited", text: /exceeded your usage limits.*dedicated capacity/is, at: [429], overrides: true },
    // Together's limit follows the recent traffic of the account; a share that is used up comes back within a minute.
    { class: "rate_limited", code: /^(?:model_rate_limit|dynamic_(?:request|token)_limited)$/ },
    // Replicate lowers the limit of an account with little credit; the request is only throttled.
    { class: "rate_limited", text: /request was throttled/i, at: [429], overrides: true },
    // All slots of one of NVIDIA's workers are taken. The status and Google's code stand for other things as well.
    { class: "overloaded", text: /worker local total request limit reached/i, at: "any-error", overrides: true },
    // A model that NVIDIA runs is out of order for a while. The status is 400, although the request is right.
    { class: "overloaded", text: /degraded function cannot be invoked/i, at: "any-error" },
  ],
};
