/** What a retry costs, and what a success returns: a fifth of a retry, and the whole retry if it was one. */
const COST = 5;
const RETURNED = 1;
/** Retries that an endpoint has in reserve. */
const MOST = 100 * COST;
/** Bounds the endpoints that are remembered. */
const MOST_ENDPOINTS = 1_000;

/**
 * Bounds retries after overload, for each endpoint, as a fraction of its recent successes: while an endpoint is overloaded for
 * all calls, retries would only multiply the load. The same budget as that of the AWS SDKs.
 */
export class RetryBudgets {
  readonly #left = new Map<string, number>();

  /** Takes one retry, if there is one. */
  take(endpoint: string): boolean {
    const left = this.#left.get(endpoint) ?? MOST;
    if (left < COST) return false;
    this.#set(endpoint, left - COST);
    return true;
  }

  succeeded(endpoint: string, wasRetry: boolean): void {
    const left = this.#left.get(endpoint);
    if (left === undefined) return;
    const next = left + (wasRetry ? COST : RETURNED);
    if (next >= MOST) this.#left.delete(endpoint);
    else this.#set(endpoint, next);
  }

  #set(endpoint: string, left: number): void {
    if (!this.#left.has(endpoint) && this.#left.size >= MOST_ENDPOINTS) this.#left.clear();
    this.#left.set(endpoint, left);
  }
}
