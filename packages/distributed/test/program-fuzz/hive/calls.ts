import { isHivepaceError, type Lease } from "@hivepace/core";
import type { HiveDecision, HiveRequest } from "../../../src/index.ts";
import { checkNumbers } from "../core/numbers.ts";
import { checkRejection } from "../core/promises.ts";
import { need, Violation } from "../core/violation.ts";
import { amountsOf, configOf, nameOf } from "./amounts.ts";
import { checkGranted, checkNotOvertaken, checkQueueFull, checkTooLarge } from "./laws.ts";
import type { Ask } from "./program.ts";
import { type Call, DEFAULT_LEASE_MS, HOUR, type Owner, type State } from "./state.ts";

/** Makes the calls of a program, and compares each grant and denial with the model. */
export class Calls {
  readonly #state: State;
  /** Grants of the present command. Their order is checked after all promises have settled. */
  #granted: Call[] = [];

  constructor(state: State) {
    this.#state = state;
  }

  acquire(owner: Owner, ask: Ask): void {
    const state = this.#state;
    const call = this.#call(owner, ask);
    owner.waiting.add(call);
    state.unsettled++;
    const signal = ask.signal === undefined ? undefined : state.signals.get(ask.signal);
    const { signal: _, ...request } = ask;
    const { hive } = owner;
    hive
      .acquire({ ...request, signal } as unknown as HiveRequest)
      .finally(() => {
        owner.waiting.delete(call);
        state.unsettled--;
      })
      .then(
        (lease) => state.late.guard(() => this.#grant(call, lease)),
        (error: unknown) =>
          state.late.guard(() => {
            checkRejection(error, signal?.reason, "acquire");
            if (owner.hive === hive) this.#rejected(call, error);
          }),
      );
  }

  try(owner: Owner, ask: Ask): HiveDecision | undefined {
    const call = this.#call(owner, ask);
    const { signal: _, timeoutMs: __, priority: ___, ...request } = ask;
    let decision: HiveDecision;
    try {
      decision = owner.hive.tryAcquire(request as unknown as HiveRequest);
    } catch (error) {
      if (!isHivepaceError(error)) throw error;
      this.#rejected(call, error);
      return undefined;
    }
    const { lease, ...plain } = decision;
    checkNumbers(plain, "decision");
    const isObserving = this.#state.setup.options.mode === "observe";
    need(
      decision.allowed === (lease !== undefined) || isObserving,
      "leases",
      () => "a lease without a grant, or the reverse",
    );
    if (lease) this.#grant(call, lease);
    else {
      const { reason, limitedBy, retryAfterMs } = decision;
      const isSaid = reason !== undefined && limitedBy !== undefined;
      need(isSaid, "reasons", () => `a denial without its reason: ${JSON.stringify(plain)}`);
      need(
        (reason === "rate") === (retryAfterMs !== undefined),
        "retry",
        () => `${reason}, retry after ${retryAfterMs}`,
      );
      if (reason === "too-large") checkTooLarge(this.#state, call);
    }
    return decision;
  }

  /**
   * Checks that a denied call of a lone hive is granted after its `retryAfterMs`, unless other calls wait for the same
   * limit.
   */
  async retry(owner: Owner, ask: Ask): Promise<void> {
    const state = this.#state;
    const { route: _, ...plain } = ask;
    const first = this.try(owner, { ...plain, endpoint: ask.endpoint ?? ask.route?.[0] ?? "eu" });
    const waitMs = first?.retryAfterMs;
    const isKnown = state.isAlone && state.setup.bus === "none" && state.setup.store === "none" && state.isJudged;
    if (waitMs === undefined || waitMs > HOUR || !isKnown || owner.waiting.size > 0) return;
    await state.pass(waitMs);
    if (owner.waiting.size > 0) return;
    const again = this.try(owner, { ...plain, endpoint: ask.endpoint ?? ask.route?.[0] ?? "eu" });
    // The end of a call in flight cannot be predicted.
    const isRight = again?.allowed === true || again?.reason === "in-flight";
    need(isRight, "retry", () => {
      const now = JSON.stringify({ ...again, lease: undefined });
      return `denied again ${waitMs} ms later, as retryAfterMs of ${JSON.stringify({ ...first, lease: undefined })} said: ${now}`;
    });
  }

  /** Checks the order of grants. Call this when the promises of a command have settled. */
  settled(): void {
    for (const call of this.#granted) checkNotOvertaken(this.#state, call);
    this.#granted = [];
  }

  #call(owner: Owner, ask: Ask): Call {
    return { owner, ask, order: this.#state.calls++, since: this.#state.clock.now() };
  }

  #grant(call: Call, lease: Lease): void {
    const state = this.#state;
    const { owner, ask } = call;
    const config = configOf(owner.endpoints, lease.endpoint, ask.model);
    if (!config) throw new Violation("limit", `granted for ${lease.endpoint}, which is not configured`);
    const now = state.clock.now();
    const amounts = amountsOf(ask);
    const of = { owner: owner.index, target: nameOf(config), key: ask.key, limits: config };
    const entry = state.ledger.add({ at: now, ...of, counted: amounts, ...amounts });
    const { leaseMs = DEFAULT_LEASE_MS } = state.setup.options;
    state.held.push({ lease, owner, entry, amounts, expiresAt: now + leaseMs, isOpen: true });
    this.#granted.push(call);
    checkGranted(state, owner, entry);
  }

  #rejected(call: Call, error: unknown): void {
    const state = this.#state;
    const { owner, ask } = call;
    const targets = state.targetsOf(owner, ask);
    if (isHivepaceError(error, "RESOURCE_UNKNOWN"))
      need(targets.length === 0, "reasons", () => `unknown, though ${targets.map(nameOf).join()} are configured`);
    else if (isHivepaceError(error, "CAPACITY_EXHAUSTED")) {
      if (error.reason === "too-large") checkTooLarge(state, call);
      if (error.reason === "queue-full") checkQueueFull(state, call);
      const { retryAfterMs = 0 } = error;
      // Infinity is legal: an isolated hive without a budget waits for the bus, not for time.
      need(retryAfterMs >= 0, "retry", () => `retryAfterMs of the error is ${retryAfterMs}`);
    } else if (isHivepaceError(error, "INVALID_CONFIG"))
      need(ask.tokens === undefined, "reasons", () => `a legal call was refused: ${error.message}`);
    else if (isHivepaceError(error, "LIMITER_CLOSED"))
      need(owner.isClosing, "reasons", () => "closed, though nobody closed it");
  }
}
