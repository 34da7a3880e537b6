/** The part of an SDK's timeout that a request may wait for its turn; the rest is for the answer. */
const PART = 0.8;

/**
 * The longest wait for capacity within the SDK's timeout, in milliseconds. The SDKs of OpenAI, Anthropic and Google
 * send their timeout in whole seconds. Infinity without such a header: those SDKs abort the request, which ends its
 * wait.
 */
export function patienceOf(header: (name: string) => string | null | undefined): number {
  const seconds = Number(header("x-stainless-timeout") ?? header("x-server-timeout") ?? Number.NaN);
  return seconds > 0 ? seconds * 1_000 * PART : Infinity;
}
