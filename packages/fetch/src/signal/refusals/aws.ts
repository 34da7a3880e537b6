import type { RefusalFamily } from "./rule.ts";

/**
 * @see https://docs.aws.amazon.com/bedrock/latest/userguide/troubleshooting-api-error-codes.html
 */
export const AWS: RefusalFamily = {
  name: "Amazon Bedrock",
  rules: [{ class: "quota_exhausted", code: /^servicequotaexceeded/ }],
};
