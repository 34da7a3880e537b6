const IS_HTML = /^\s*<(?:!doctype|html|head|body|\?xml)\b/i;
/** An error page states its reason at the top; the rest may be unrelated text. */
const LONGEST_PAGE_TEXT = 400;

/** Returns the visible text at the top of an HTML page, which proxies and load balancers send; other texts as they are. */
export function plainText(text: string): string {
  if (!IS_HTML.test(text)) return text;
  return text
    .slice(0, 16_384)
    .replace(/<(script|style)\b[^<>]*>[\s\S]*?(?:<\/\1>|$)/gi, " ")
    .replace(/<[^<>]*>/g, " ")
    .replace(/\s+/g, " ")
    .trim()
    .slice(0, LONGEST_PAGE_TEXT);
}
