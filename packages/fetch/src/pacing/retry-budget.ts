/**
 * Retries that a call earns: the number that the providers' own SDKs send for each call. With fewer, more calls would fail than
 * with these SDKs while many answers are overload.
 */
const EARNED = 2;
/** A model that has answered this many times without a success earns nothing: retries would only multiply its load. */
const MOST_WITHOUT_SUCCESS = 100;
/** Retries that a model has at first, and that it can save up. */
const FIRST = 100;
const MOST = 1_000;
/** Bounds the models that are remembered. */
const MOST_MODELS = 1_000;

interface Budget {
  left: number;
  /** Answers since the latest success. */
  withoutSuccess: number;
}

/**
 * Bounds retries after overload by the number of recent calls, while some of them succeed. Each model of an endpoint has a
 * budget of its own: an overloaded model does not use up the retries of another one.
 */
export class RetryBudgets {
  readonly #budgets = new Map<string, Budget>();

  /** Counts the first sending of a call. */
  began(endpoint: string, model: string | undefined): void {
    const budget = this.#of(endpoint, model);
    if (budget.withoutSuccess < MOST_WITHOUT_SUCCESS) budget.left = Math.min(MOST, budget.left + EARNED);
  }

  succeeded(endpoint: string, model: string | undefined): void {
    this.#of(endpoint, model).withoutSuccess = 0;
  }

  /** Takes one retry after an overload, if there is one. */
  take(endpoint: string, model: string | undefined): boolean {
    const budget = this.#of(endpoint, model);
    budget.withoutSuccess++;
    if (budget.left < 1) return false;
    budget.left--;
    return true;
  }

  #of(endpoint: string, model = ""): Budget {
    const key = JSON.stringify([endpoint, model]);
    const known = this.#budgets.get(key);
    if (known) return known;
    if (this.#budgets.size >= MOST_MODELS) this.#budgets.clear();
    const budget = { left: FIRST, withoutSuccess: 0 };
    this.#budgets.set(key, budget);
    return budget;
  }
}
