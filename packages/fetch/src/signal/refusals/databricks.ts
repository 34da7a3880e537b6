import type { RefusalFamily } from "./rule.ts";

export const DATABRICKS: RefusalFamily = {
  name: "Databricks",
  sources: ["https://docs.databricks.com/aws/machine-learning/foundation-model-apis/limits"],
  rules: [
    { class: "rate_limited", code: /^request_limit_exceeded$/ },
    // A model that the workspace may not use has a limit of 0.
    { class: "not_entitled", text: /rate limit (?:of|set to) 0\b/i, at: "any-error", overrides: true },
  ],
};
