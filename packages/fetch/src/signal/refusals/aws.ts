import type { RefusalFamily } from "./rule.ts";

export const AWS: RefusalFamily = {
  name: "Amazon Bedrock",
  sources: ["https://docs.aws.amazon.com/bedrock/latest/userguide/troubleshooting-api-error-codes.html"],
  rules: [{ class: "quota_exhausted", code: /^servicequotaexceeded/ }],
};
