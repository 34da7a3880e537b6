import type { RefusalFamily } from "./rule.ts";

/**
 * Azure OpenAI and GitHub Models. Azure OpenAI, Microsoft Foundry, and GitHub Models, which run on the same gateway.
 *
 * @see https://learn.microsoft.com/azure/ai-foundry/openai/quotas-limits
 * @see https://docs.github.com/en/github-models/use-github-models/prototyping-with-ai-models#rate-limits
 * @see https://learn.microsoft.com/azure/api-management/quota-policy
 * @see https://learn.microsoft.com/azure/api-management/llm-token-limit-policy
 */
export const MICROSOFT: RefusalFamily = {
  rules: [
    // "Please retry after 86400 seconds": a day's allowance of a free or trial tier.
    { class: "quota_window_long", text: /retry after 86,?400 seconds/i },
    // "Rate limit of 50 per 86400s exceeded for UserByModelByDay." The header `x-ratelimit-type` names the same limit.
    { class: "quota_window_long", text: /\bper 86,?400 ?s|ByDay\b/ },
    { class: "quota_window_long", code: /^user\w*byday$/, at: [429] },
    // API Management's quotas have windows of five minutes and more, its token quotas of an hour and more, and come with status 403.
    {
      class: "quota_window_long",
      text: /out of (?:call volume|bandwidth) quota|token quota is exceeded/i,
      at: "any-error",
    },
  ],
};
