import type { RefusalFamily } from "./rule.ts";

/**
 * Cloudflare Workers AI. `errors[0].code` of the envelope of Cloudflare's API.
 *
 * @see https://developers.cloudflare.com/workers-ai/platform/errors/
 */
export const CLOUDFLARE: RefusalFamily = {
  rules: [
    { class: "quota_window_long", code: /^3036$/, at: [429] },
    { class: "quota_window_long", text: /daily free allocation|\b3036:/i },
    { class: "overloaded", code: /^3040$/, at: [429, 503] },
    { class: "overloaded", text: /no more data centers to forward|\b3040:/i },
    { class: "request_too_large", code: /^3006$/, at: [413] },
  ],
};
