import type { RefusalFamily } from "./rule.ts";

/** Statuses with which providers report trouble of their own, also inside an answer with status 200. */
const TROUBLE = [200, 408, 429, 498, 500, 502, 503, 504, 520, 522, 524, 529] as const;

/**
 * Words that most providers share, and likely words of providers that have no file of their own.
 *
 * @see https://www.rfc-editor.org/rfc/rfc6585#section-4
 */
export const GENERAL: RefusalFamily = {
  rules: [
    {
      class: "quota_exhausted",
      code: /insufficient_?(?:user_?)?(?:quota|funds?|balance|credits?)|not_?enough_?(?:balance|credits?)|credit_balance|credits?_(?:exhausted|depleted)|no_?credit|^billing|spend(?:ing)?_limit|payment_?required|budget_?exceeded|exceeded_?budget|arrear|overdue/,
    },
    {
      class: "quota_exhausted",
      at: "any-error",
      text: /credit balance is too low|insufficient (?:(?!to |permission|privilege)\w+ ){0,3}(?:credits?|balance|funds)\b|balance (?:is )?(?:insufficient|not enough)|credits are depleted|(?:used|exhausted|exceeded) (?:all |up )*(?:of )?(?:your |the )?(?:available |remaining |monthly |included )*credits|\bout of (?:extra usage|credits)|(?:doesn't|does not) have any credits|(?:not enough|exhausted) balance|credit limit exceeded|credits (?:have )?expired|spend(?:ing)? (?:limit|cap)\b|will regain access on|requires? more credits|budget (?:limits? )?(?:has been |have been )?(?:exceeded|reached)|exceeded ?(?:token ?)?budget|(?:crossed|over) budget|(?:trial|subscription)(?: period)? (?:has|is) (?:expired|ended|over)\b|please (?:recharge|top up)|账户?余额不足|余额不足|欠费/i,
    },
    {
      class: "ramp_limited",
      code: /^(ramp_limit_exceeded|slow_?down|limit_burst_rate|\w*rate_?growth\w*)$/,
    },
    // OpenAI's "Slow Down" is a 503. In a 429, "please slow down" is said of any rate.
    { class: "ramp_limited", text: /slow down/i, at: [503] },
    {
      class: "ramp_limited",
      text: /acceleration limit|usage increase rate|growing too fast|slow down (?:your )?traffic growth|sudden increase in (?:your )?request|sharp increase in usage|(?:request )?rate increased too quickly|rate growth limit/i,
    },
    {
      class: "not_entitled",
      at: "any-error",
      text: /(?:not|n't) (?:yet )?(?:available|included|supported) (?:in|on|for|with|by|under) (?:your|this|personal|trial) (?:current )?(?:\w+ )?(?:plan|tier|subscription|account)s?|requires an? (?:(?:paid|higher|pro|premium|active) )?(?:plan|tier|subscription)\b|only available (?:in|on|for|to|with) (?:paid|higher|pro|premium)\b|(?:don't|do not|does not|doesn't) (?:yet )?(?:have access to|include access to) (?:the |this )?model|extra usage is required|doesn't have a free quota tier|rate limit (?:of|set to|is) 0(?![\d.,])/i,
    },
    {
      class: "quota_window_long",
      code: /^(usage_limit_(?:reached|exceeded)|quota_?exhausted|daily_?limit_?exceeded|quota_?exceeded|free_?usage_?limit\w*|[\w.]*(?:_per_day|daily_limit\w*)|\w+_(?:daily|weekly|monthly))$/,
    },
    {
      class: "quota_window_long",
      text: /(?<![a-z])per[ _-](?:day|month|week)(?![a-z])|\b(?:TPD|RPD)\b|\/ ?(?:day|month)\b|\b(?:dai|week)ly\b|\bmonthly (?:call|request|token|limit|quota|usage|allowance|cap)|(?:day|week|month|\d+[- ]?hour) (?:allocated )?(?:quota|usage|limit)|(?:hourly|session) usage limit|usage limit (?:reached|exceeded) for \d+ ?(?:hour|day|week|month)|usage limit for this (?:billing|period)|(?:reached|hit|exceeded) your (?:\w+ )?usage limit|free usage exceeded|\b(?:for|used) (?:today|(?:the|this) (?:day|week|month))\b|\/ ?24 ?h(?:ours?)?\b|\b\d+ ?d(?:ays?)? (?:quota|limit)|使用上限|(?:每日|每天|当日|今日|每周|每月|本月)[^。]{0,12}(?:限额|额度|上限|配额)/i,
    },
    { class: "overloaded", code: /overload/ },
    {
      class: "overloaded",
      at: TROUBLE,
      code: /^(model_?not_?ready|service_?unavailable|temporarily_?unavailable|model_capacity_exhausted|no_?capacity|service_tier_capacity_exceeded|capacity_exceeded|out_?of_?capacity|unavailable(?!_model)|resource_?unavailable|(?:no_)?provider_(?:un)?available|queue_(?:exceeded|expired|full)|system_busy|server_busy)/,
    },
    {
      class: "overloaded",
      text: /overloaded|experiencing (?:\w+ )?high (?:demand|traffic|load)|under high load|(?:receiving|have) too many requests at (?:the|this) moment|capacity (?:is )?(?:temporarily )?exceeded|(?:out of|over|no|no more|insufficient|not enough|system|limited) capacity|\bat (?:full |max(?:imum)? )?capacity\b|temporarily unable to process|(?:model|engine) (?:is )?(?:currently |too )?busy|model is not ready|resources? (?:(?:is|are) )?(?:temporarily |currently )?unavailable|(?:server|system|service) is (?:too )?busy|no deployments available|访问量过大|负载(?:较|过)高|(?:服务器?|系统)繁忙|过载|负载已?饱和/i,
    },
    {
      class: "overloaded",
      at: "server-error",
      text: /overloaded|(?:service|server|model|engine) is (?:(?:currently |temporarily )?unavailable|(?:currently |too )?busy)|experiencing (?:\w+ )?high (?:demand|traffic|load)|under high load|capacity (?:is )?(?:temporarily )?exceeded|(?:out of|over|no|at (?:full|max(?:imum)?)) capacity|model is not ready/i,
    },
    {
      class: "rate_limited",
      code: /^(rate_limit(?:_error)?|\w*rate_?limit_?(?:ed|exceeded|reached)\w*(?:\.\w+)*|too_?many_?(?:concurrent_?)?requests|throttl(?:ing|ed)|requestlimitexceeded|request_limit_exceeded|requestthrottled|limit_requests|resource_exhausted|provisionedthroughputexceeded|concurrency_?limit)/,
    },
    // Gateways and older APIs answer with a 403 or 500.
    {
      class: "rate_limited",
      at: "any-error",
      text: /\brate[- _]?limit(?:s|ing|ed)?(?: has been| have been| was| is)? (?:exceeded|reached|hit)\b|\b(?:exceed(?:ed|s|ing)?|reached|hit|over) (?:(?:the|your|our|its|an?|max(?:imum)?|\w+'s|call|tokens?|requests?|api|current|organization|account|secondary|workspace|per[- ]minute|concurrent) ){0,5}rate[- ]?limits?\b|\btoo many (?:concurrent )?requests\b|\brequests? (?:was|were|is|are|has been) (?:throttled|rate[- ]limited)|速率限制|频率(?:限制|过高|过快)|请求(?:过于频繁|太频繁|过快|过多)/i,
    },
  ],
};
