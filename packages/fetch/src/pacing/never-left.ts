const NEVER_LEFT = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "UND_ERR_CONNECT_TIMEOUT", "EHOSTUNREACH"]);
/** How far wrapped errors are followed. */
const DEEPEST = 4;

/** Whether the request failed before anything of it was sent, so that it has cost nothing. */
export function neverLeft(error: unknown): boolean {
  let next = error;
  for (let depth = 0; depth < DEEPEST && typeof next === "object" && next !== null; depth++) {
    const { code, cause } = next as { code?: unknown; cause?: unknown };
    if (NEVER_LEFT.has(String(code))) return true;
    next = cause;
  }
  return false;
}
