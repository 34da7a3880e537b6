/** One request as it arrived. */
export interface Sent {
  /** When it was decided, on the provider's clock, in milliseconds. */
  readonly at: number;
  /** Who sent it: the header `x-agent`, else the API key. */
  readonly agent: string;
  readonly model: string;
  /** What it was counted as: input and output. */
  readonly tokens: number;
  readonly accepted: boolean;
  /** What was answered. */
  readonly status: number;
  /** How often the SDK had tried before, as OpenAI's and Anthropic's say. */
  readonly retryCount: number;
}

/** The most that was accepted in any interval of this length, whichever way it is laid. */
export function largestWindow(log: readonly Sent[], windowMs: number): { requests: number; tokens: number } {
  const accepted = log.filter((sent) => sent.accepted).sort((a, b) => a.at - b.at);
  const largest = { requests: 0, tokens: 0 };
  let first = 0;
  let tokens = 0;
  for (const [i, sent] of accepted.entries()) {
    tokens += sent.tokens;
    // Half open: what came exactly one window ago is over.
    for (let oldest = accepted[first]; oldest && oldest.at <= sent.at - windowMs; oldest = accepted[first]) {
      tokens -= oldest.tokens;
      first++;
    }
    largest.requests = Math.max(largest.requests, i - first + 1);
    largest.tokens = Math.max(largest.tokens, tokens);
  }
  return largest;
}
