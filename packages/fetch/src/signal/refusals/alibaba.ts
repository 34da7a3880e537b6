import type { RefusalFamily } from "./rule.ts";

/**
 * Alibaba Model Studio (DashScope, Qwen).
 *
 * @see https://help.aliyun.com/en/model-studio/error-code-start
 * @see https://www.alibabacloud.com/help/en/model-studio/developer-reference/rate-limit
 * @see https://github.com/QwenLM/qwen-code/issues/1742
 */
export const ALIBABA: RefusalFamily = {
  rules: [
    { class: "ramp_limited", code: /^throttling\.burstrate$|^limit_burst_rate$/ },
    { class: "rate_limited", code: /^throttling\.(?:ratequota|allocationquota)$|^limit_requests$/ },
    // In OpenAI's protocol the tokens of a minute are called "insufficient_quota"; the text links to the right page.
    {
      class: "rate_limited",
      code: /^insufficient_quota$/,
      text: /allocated quota exceeded|exceeded your current (?:quota|requests list).*(?:aliyun|alibabacloud)\.com/is,
      at: [429],
      overrides: true,
    },
    // The allowance of a coding plan, or of a free account for a day; "hour" is the window of five hours.
    {
      class: "quota_window_long",
      text: /\b(?:free|hour|week|month) allocated quota exceeded/i,
      at: "any-error",
      overrides: true,
    },
    { class: "quota_exhausted", code: /^arrearage$|^allocationquota\.freetieronly$|^(?:pre|post)paidbilloverdue$/ },
    { class: "not_entitled", code: /^commoditynotpurchased$|^accessdenied\.unpurchased$/ },
    { class: "overloaded", text: /throttled due to system capacity/i, at: "any-error" },
  ],
};
