import type { RefusalFamily } from "./rule.ts";

/**
 * Volcengine Ark and BytePlus ModelArk (Doubao).
 *
 * @see https://volcengine.com/docs/82379/1299023
 */
export const BYTEDANCE: RefusalFamily = {
  rules: [
    // The owner's own cap on a model: the service is paused until the cap is raised.
    { class: "quota_exhausted", code: /^setlimitexceeded$/ },
    // The free allowance of a model. It does not come back.
    { class: "quota_exhausted", code: /^quotaexceeded$/, text: /exhausted its free/i, overrides: true },
    { class: "quota_exhausted", code: /^accountoverdue/ },
    // A coding plan's allowance for five hours, a week or a month.
    { class: "quota_window_long", code: /^accountquotaexceeded$/ },
    { class: "ramp_limited", code: /^requestbursttoofast$/ },
    { class: "rate_limited", code: /^(?:model)?account(?:rpm|tpm|ipm)?ratelimitexceeded$|^inflightbatchsizeexceeded$/ },
  ],
};
