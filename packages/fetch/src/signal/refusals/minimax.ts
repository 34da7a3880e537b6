import type { RefusalFamily } from "./rule.ts";

/**
 * MiniMax. `base_resp.status_code` of an answer with status 200, or the same number in parentheses at the end of a
 * message.
 *
 * @see https://platform.minimax.io/docs/api-reference/errorcode.md
 * @see https://github.com/MiniMax-AI/MiniMax-M2.7/issues/36
 * @see https://github.com/openclaw/openclaw/pull/69699
 */
export const MINIMAX: RefusalFamily = {
  rules: [
    // 1002: requests, 1039: tokens, 1041: connections.
    { class: "rate_limited", code: /^base_resp:(?:1002|1039|1041)$/ },
    { class: "rate_limited", text: /\((?:1002|1039|1041)\)$/ },
    { class: "quota_exhausted", code: /^base_resp:1008$/ },
    { class: "quota_exhausted", text: /\(1008\)$/ },
    { class: "ramp_limited", code: /^base_resp:2045$/ },
    { class: "ramp_limited", text: /\(2045\)$/ },
    // A plan's allowance for five hours or a week.
    { class: "quota_window_long", code: /^base_resp:2056$/ },
    { class: "quota_window_long", text: /usage limit exceeded.*\(2056\)/is, at: "any-error" },
    // "your current token plan not support model"
    { class: "not_entitled", code: /^base_resp:2061$/ },
    { class: "not_entitled", text: /\(2061\)$/, at: "any-error" },
    { class: "overloaded", text: /high traffic detected/i, at: "server-error" },
  ],
};
