import type { RefusalFamily } from "./rule.ts";

export const IBM: RefusalFamily = {
  name: "IBM watsonx.ai",
  sources: [
    "https://cloud.ibm.com/apidocs/watsonx-ai#text-chat",
    "https://ibm.github.io/watsonx-ai-python-sdk/rate_limit.html",
  ],
  // The tokens of a plan are renewed each month; the status is 403.
  rules: [{ class: "quota_window_long", code: /^token_quota_reached$/ }],
};
