import type { RefusalFamily } from "./rule.ts";

/** `base_resp.status_code` of an answer with status 200, or the same number in parentheses at the end of a message. */
export const MINIMAX: RefusalFamily = {
  name: "MiniMax",
  sources: ["https://platform.minimax.io/docs/api-reference/errorcode.md"],
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
    { class: "quota_window_long", text: /usage limit exceeded \(2056\)/i, at: "any-error" },
    { class: "not_entitled", code: /^base_resp:2061$/ },
    { class: "overloaded", code: /^base_resp:2064$/ },
    { class: "overloaded", text: /\(2064\)$/, at: "any-error" },
  ],
};
