/** The record of one request. */
export interface Sent {
  /** The time of the admission decision, in milliseconds of the provider's clock. */
  readonly at: number;
  /** The sender: the header `x-agent`, else the API key. */
  readonly agent: string;
  readonly model: string;
  /** Tokens counted: input and output. */
  readonly tokens: number;
  readonly accepted: boolean;
  /** The status of the response. */
  readonly status: number;
  /** The number of earlier attempts, from the header of OpenAI's and Anthropic's SDKs. */
  readonly retryCount: number;
}

/** Returns the maximum accepted in any interval of this length. */
export function largestWindow(log: readonly Sent[], windowMs: number): { requests: number; tokens: number } {
  const accepted = log.filter((sent) => sent.accepted).sort((a, b) => a.at - b.at);
  const largest = { requests: 0, tokens: 0 };
  let first = 0;
  let tokens = 0;
  for (const [i, sent] of accepted.entries()) {
    tokens += sent.tokens;
    // Intervals are half open: a request exactly one window old has expired.
    for (let oldest = accepted[first]; oldest && oldest.at <= sent.at - windowMs; oldest = accepted[first]) {
      tokens -= oldest.tokens;
      first++;
    }
    largest.requests = Math.max(largest.requests, i - first + 1);
    largest.tokens = Math.max(largest.tokens, tokens);
  }
  return largest;
}
