import type { RefusalFamily } from "./rule.ts";

/** Business codes stand inside answers with status 429; a code alone, of four digits, would be too weak a sign. */
const AT = [429];

export const ZAI: RefusalFamily = {
  name: "Z.ai (GLM)",
  sources: ["https://docs.z.ai/api-reference/api-code"],
  rules: [
    { class: "quota_exhausted", code: /^(?:1113|1309)$/, at: AT },
    { class: "rate_limited", code: /^(?:1302|1303|1305|1313)$/, at: AT },
    { class: "quota_window_long", code: /^(?:1304|1308|1310)$/, at: AT },
    { class: "not_entitled", code: /^1311$/, at: AT },
    { class: "overloaded", code: /^1312$/, at: AT },
  ],
};
