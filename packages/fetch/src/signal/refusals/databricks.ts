import type { RefusalFamily } from "./rule.ts";

/**
 * Databricks.
 *
 * @see https://docs.databricks.com/aws/machine-learning/foundation-model-apis/limits
 * @see https://community.databricks.com/t5/generative-ai/permission-denied-the-endpoint-is-temporarily-disabled-due-to-a/td-p/150773
 */
export const DATABRICKS: RefusalFamily = {
  rules: [
    { class: "rate_limited", code: /^request_limit_exceeded$/ },
    // A model that the workspace may not use has a limit of 0.
    { class: "not_entitled", text: /rate limit (?:of|set to) 0(?![.,]?\d)/i, at: "any-error", overrides: true },
  ],
};
