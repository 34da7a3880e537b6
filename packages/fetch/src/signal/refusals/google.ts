import type { RefusalFamily } from "./rule.ts";

/**
 * Gemini and Vertex AI. Gemini and Vertex AI. `google-quota.ts` reads the details of their errors.
 *
 * @see https://ai.google.dev/gemini-api/docs/troubleshooting
 * @see https://docs.cloud.google.com/vertex-ai/generative-ai/docs/error-code-429
 */
export const GOOGLE: RefusalFamily = {
  rules: [
    { class: "rate_limited", code: /^(?:user)?ratelimitexceeded$/ },
    // Names of quotas: "GenerateRequestsPerDayPerProjectPerModel".
    { class: "quota_window_long", text: /Per(?:Day|Month|Week)(?![a-z])/ },
    // Reserved throughput is a limit of the account, although its name speaks of capacity.
    { class: "rate_limited", text: /exceeded the provisioned throughput/i, overrides: true },
  ],
};
