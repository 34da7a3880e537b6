import type { RefusalFamily } from "./rule.ts";

/**
 * Baidu Qianfan (ERNIE). The first version of the API has a number and status 200, the second OpenAI's protocol.
 *
 * @see https://cloud.baidu.com/doc/WENXINWORKSHOP/s/hlzic283e
 * @see https://cloud.baidu.com/doc/qianfan-api/s/Om9b4yj3w
 * @see https://ai.baidu.com/ai-doc/AppBuilder/4m8sgh88y
 */
export const BAIDU: RefusalFamily = {
  rules: [
    {
      class: "rate_limited",
      code: /^3365(?:01|02)$|^rate_limit_(?:search_)?(?:total_)?qps$|^[rt]pm_rate_limit_exceeded$/,
    },
    { class: "rate_limited", text: /qps request limit reached/i, at: "any-error" },
    { class: "quota_window_long", text: /daily request limit reached/i, at: "any-error" },
    { class: "quota_window_long", code: /^quota_user_daily_(?:request|free)$/ },
  ],
};
