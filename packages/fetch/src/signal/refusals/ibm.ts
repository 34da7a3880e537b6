import type { RefusalFamily } from "./rule.ts";

/**
 * IBM watsonx.ai.
 *
 * @see https://cloud.ibm.com/apidocs/watsonx-ai#text-chat
 * @see https://ibm.github.io/watsonx-ai-python-sdk/rate_limit.html
 */
export const IBM: RefusalFamily = {
  // The tokens of a plan are renewed each month; the status is 403.
  rules: [{ class: "quota_window_long", code: /^token_quota_reached$/ }],
};
