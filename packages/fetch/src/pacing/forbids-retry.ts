/**
 * Whether the header field `x-should-retry` of a refusal says no. OpenAI and Anthropic send it when waiting does not help, and
 * so does another Hivepace on the way, which has retried already.
 */
export function forbidsRetry(field: unknown): boolean {
  return typeof field === "string" && field.trim().toLowerCase() === "false";
}
