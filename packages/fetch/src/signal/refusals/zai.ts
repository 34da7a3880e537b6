import type { RefusalFamily, RefusalRule } from "./rule.ts";

/** Statuses of refusals and of trouble, and that of errors in a stream. Elsewhere four digits are too weak a sign. */
const AT = [200, 429, 500, 502, 503] as const;

const CODES: readonly (readonly [RefusalRule["class"], readonly number[]])[] = [
  // Arrears, and plans of an account or an enterprise that have ended.
  ["quota_exhausted", [1113, 1309, 1314]],
  ["rate_limited", [1302, 1303]],
  // A day's calls (1304, no longer documented), the hours and weeks of a plan, and a breach of the fair use policy.
  ["quota_window_long", [1304, 1308, 1310, 1313, 1316, 1317, 1318, 1319, 1320, 1321]],
  ["not_entitled", [1311, 1315]],
];

/** The code stands in a field of its own or, in Anthropic's protocol, in front of the message: "[1313][Your account's …". */
const rules = CODES.flatMap(([refusal, codes]): RefusalRule[] => [
  // "Insufficient balance for extra usage" comes with the reset of a plan's window, which decides.
  { class: refusal, code: new RegExp(`^(?:${codes.join("|")})$`), at: AT, overrides: true },
  { class: refusal, text: new RegExp(`(?:^|\\s)\\[(?:${codes.join("|")})\\]\\[`), overrides: true },
]);

/**
 * Z.ai (GLM).
 *
 * @see https://docs.z.ai/api-reference/api-code
 * @see https://github.com/zai-org/GLM-5/issues/77
 * @see https://github.com/repoprompt/repoprompt-ce/issues/295
 */
export const ZAI: RefusalFamily = {
  rules: [
    ...rules,
    // "The service may be temporarily overloaded"; earlier documentation said "The API has triggered a rate limit".
    { class: "overloaded", code: /^1305$/, at: AT },
    { class: "overloaded", text: /(?:^|\s)\[1305\]\[/ },
    { class: "rate_limited", code: /^1305$/, text: /rate limit/i, at: AT, overrides: true },
  ],
};
