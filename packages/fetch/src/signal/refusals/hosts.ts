import type { RefusalFamily } from "./rule.ts";

/** Hosts of open models. The general rows cover most of their answers. */
export const HOSTS: RefusalFamily = {
  name: "Fireworks, Together, Replicate, Groq, Mistral, NVIDIA NIM",
  sources: [
    "https://docs.fireworks.ai/guides/inference-error-codes",
    "https://docs.together.ai/docs/error-codes",
    "https://replicate.com/docs/topics/predictions/rate-limits",
    "https://console.groq.com/docs/flex-processing",
    "https://github.com/QuantumNous/new-api/issues/6619",
  ],
  rules: [
    // Fireworks suspends an account that has reached its spending limit or not paid.
    { class: "quota_exhausted", text: /account .{0,80}\bsuspended/is, at: [412] },
    // Together's limit follows the recent traffic of the account; a share that is used up comes back within a minute.
    { class: "rate_limited", code: /^(?:model_rate_limit|dynamic_(?:request|token)_limited)$/ },
    // Replicate lowers the limit of an account with little credit; the request is only throttled.
    { class: "rate_limited", text: /request was throttled/i, at: [429], overrides: true },
    // All slots of one of NVIDIA's workers are taken. The status and Google's code stand for other things as well.
    { class: "overloaded", text: /worker local total request limit reached/i, at: "any-error", overrides: true },
  ],
};
