import type { RefusalFamily } from "./rule.ts";

/**
 * Amazon Bedrock.
 *
 * @see https://docs.aws.amazon.com/bedrock/latest/userguide/troubleshooting-api-error-codes.html
 */
export const AWS: RefusalFamily = {
  rules: [{ class: "quota_exhausted", code: /^servicequotaexceeded/ }],
};
