/** What a retry costs, and what a success returns: a fifth of a retry, and the whole retry if it was one. */
const COST = 5;
const RETURNED = 1;
/** Retries that a model of an endpoint has in reserve. */
const MOST = 100 * COST;
/** Bounds the models that are remembered. */
const MOST_MODELS = 1_000;

/**
 * Bounds retries after overload as a fraction of recent successes: while a model is overloaded for all calls, retries would
 * only multiply the load. The same budget as that of the AWS SDKs, for each model of an endpoint: an overloaded model does
 * not use up the retries of another one.
 */
export class RetryBudgets {
  readonly #left = new Map<string, number>();

  /** Takes one retry, if there is one. */
  take(endpoint: string, model: string | undefined): boolean {
    const key = keyOf(endpoint, model);
    const left = this.#left.get(key) ?? MOST;
    if (left < COST) return false;
    this.#set(key, left - COST);
    return true;
  }

  succeeded(endpoint: string, model: string | undefined, wasRetry: boolean): void {
    const key = keyOf(endpoint, model);
    const left = this.#left.get(key);
    if (left === undefined) return;
    const next = left + (wasRetry ? COST : RETURNED);
    if (next >= MOST) this.#left.delete(key);
    else this.#set(key, next);
  }

  #set(key: string, left: number): void {
    if (!this.#left.has(key) && this.#left.size >= MOST_MODELS) this.#left.clear();
    this.#left.set(key, left);
  }
}

function keyOf(endpoint: string, model = ""): string {
  return JSON.stringify([endpoint, model]);
}
