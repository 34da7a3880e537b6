import type { RefusalFamily } from "./rule.ts";

/**
 * @see https://cloud.ibm.com/apidocs/watsonx-ai#text-chat
 * @see https://ibm.github.io/watsonx-ai-python-sdk/rate_limit.html
 */
export const IBM: RefusalFamily = {
  name: "IBM watsonx.ai",
  // The tokens of a plan are renewed each month; the status is 403.
  rules: [{ class: "quota_window_long", code: /^token_quota_reached$/ }],
};
