import type { FailedCall } from "./failure.ts";
import { neverLeft } from "./never-left.ts";

/** Codes of connections that broke before an answer came. */
const LOST = new Set([
  "ECONNRESET",
  "EPIPE",
  "ECONNABORTED",
  "ETIMEDOUT",
  "ENETUNREACH",
  "UND_ERR_SOCKET",
  "UND_ERR_HEADERS_TIMEOUT",
  "UND_ERR_BODY_TIMEOUT",
]);
/** How far wrapped errors are followed. */
const DEEPEST = 4;

/** The failure of a connection that an error stands for; undefined for other errors, such as a caller's abort. */
export function connectionFailure(error: unknown): FailedCall | undefined {
  if (neverLeft(error)) return { isRejected: true };
  let next = error;
  for (let depth = 0; depth < DEEPEST && typeof next === "object" && next !== null; depth++) {
    const { code, cause } = next as { code?: unknown; cause?: unknown };
    if (LOST.has(String(code))) return { isRejected: false };
    next = cause;
  }
  return undefined;
}
