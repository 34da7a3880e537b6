import { isHivepaceError, type Lease } from "@hivepace/core";
import type { HiveDecision, HiveRequest } from "../../../src/index.ts";
import { checkNumbers } from "../core/numbers.ts";
import { checkRejection } from "../core/promises.ts";
import { need, Violation } from "../core/violation.ts";
import { amountsOf, configOf, nameOf } from "./amounts.ts";
import { checkGranted, checkNotOvertaken, checkQueueFull, checkSlots, checkTooLarge } from "./laws.ts";
import { settle } from "./leases.ts";
import { clear } from "./ledger.ts";
import { isParked } from "./parks.ts";
import type { Ask, Work } from "./program.ts";
import { type Call, DEFAULT_LEASE_MS, type Held, HOUR, type Owner, type State } from "./state.ts";

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
    const { hive } = owner;
    hive
      .acquire({ ...requestOf(ask), signal })
      .finally(() => {
        owner.waiting.delete(call);
        owner.demandAt = state.clock.now();
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

  /** Runs work of a given duration and outcome with a lease, which is renewed meanwhile. */
  run(owner: Owner, ask: Ask, work: Work): void {
    const state = this.#state;
    const call = this.#call(owner, ask);
    owner.waiting.add(call);
    state.unsettled++;
    const signal = ask.signal === undefined ? undefined : state.signals.get(ask.signal);
    const { hive } = owner;
    let failure: unknown;
    hive
      .run({ ...requestOf(ask), signal }, async (lease) => {
        owner.waiting.delete(call);
        owner.demandAt = state.clock.now();
        let held: Held | undefined;
        state.late.guard(() => {
          held = this.#grant(call, lease, Infinity);
        });
        await new Promise<void>((resolve) => void state.clock.after(work.forMs, resolve));
        const { result, error } = outcomeOf(work, ask);
        if (held?.isOpen) endWork(state, held, work);
        if (error) {
          failure = error;
          throw error;
        }
        return result;
      })
      .finally(() => {
        owner.waiting.delete(call);
        owner.demandAt = state.clock.now();
        state.unsettled--;
      })
      .catch((error: unknown) =>
        state.late.guard(() => {
          if (failure !== undefined)
            return need(error === failure, "typed errors", () => `run rejected with ${String(error)}`);
          checkRejection(error, signal?.reason, "run");
          if (owner.hive === hive) this.#rejected(call, error);
        }),
      );
  }

  try(owner: Owner, ask: Ask): HiveDecision | undefined {
    const call = this.#call(owner, ask);
    const { timeoutMs: _, priority: __, ...request } = requestOf(ask);
    let decision: HiveDecision;
    try {
      decision = owner.hive.tryAcquire(request as HiveRequest);
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
    owner.demandAt = this.#state.clock.now();
    if (lease) this.#grant(call, lease);
    else {
      const { reason, limitedBy, retryAfterMs } = decision;
      const isSaid = reason !== undefined && limitedBy !== undefined;
      need(isSaid, "reasons", () => `a denial without its reason: ${JSON.stringify(plain)}`);
      // The end of a call in flight cannot be predicted in general, nor the end of a pause or of a failure.
      const isKnown = reason === "rate" && limitedBy !== "paused";
      const isNever = reason === "too-large" || limitedBy === "paused" || limitedBy === "endpoint-in-flight";
      const isRight = isKnown ? retryAfterMs !== undefined : !isNever || retryAfterMs === undefined;
      need(isRight, "retry", () => `${reason} of ${limitedBy}, retry after ${retryAfterMs}`);
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
    // The end of a call in flight cannot be predicted, nor its outcome, which may be a refusal that pauses the endpoint. The
    // same holds for the call that probes an unavailable endpoint.
    const isProbing = again !== undefined && owner.hive.explain(again.endpoint, ask.model).availability.isProbing;
    const isRight = again?.allowed === true || isProbing || [first?.reason, again?.reason].includes("in-flight");
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

  #grant(call: Call, lease: Lease, leaseMs = this.#state.setup.options.leaseMs ?? DEFAULT_LEASE_MS): Held {
    const state = this.#state;
    const { owner, ask } = call;
    const config = configOf(owner.endpoints, lease.endpoint, ask.model);
    if (!config) throw new Violation("limit", `granted for ${lease.endpoint}, which is not configured`);
    const now = state.clock.now();
    const amounts = amountsOf(ask);
    const of = { owner: owner.index, target: nameOf(config), key: ask.key, limits: config };
    const entry = state.ledger.add({ at: now, ...of, counted: amounts, ...amounts });
    const held = { lease, owner, entry, amounts, expiresAt: now + leaseMs, isOpen: true };
    state.held.push(held);
    this.#granted.push(call);
    checkGranted(state, owner, entry);
    checkSlots(state, owner, config, ask.key);
    if (state.setup.options.mode === "observe") return held;
    need(!owner.hive.isPaused, "pause", () => "granted while the process is paused");
    const isClosed = state.isAlone && isParked(state, config.id, ask.model);
    need(!isClosed, "pause", () => `granted for ${config.id}, which is parked`);
    return held;
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

/** The request of a call, without its signal. */
function requestOf({ signal: _, firstTier, ...ask }: Ask): HiveRequest {
  const { route } = ask;
  const tiers = route && firstTier !== undefined ? { route: [route.slice(0, firstTier), route.slice(firstTier)] } : {};
  return { ...ask, ...tiers } as unknown as HiveRequest;
}

/** The usage that work reports; undefined when it reports none. */
function usedBy({ outcome, part = 1 }: Work, tokens: number): number | undefined {
  return outcome === "uses" ? Math.floor(part * tokens) : undefined;
}

function outcomeOf(work: Work, ask: Ask): { readonly result?: unknown; readonly error?: Error } {
  const used = usedBy(work, amountsOf(ask).tokens);
  switch (work.outcome) {
    case "succeeds":
    case "uses":
      return { result: used === undefined ? "an answer" : { usage: { total_tokens: used } } };
    case "fails":
      return { error: new Error("the work failed") };
    default:
      return { error: Object.assign(new Error("refused"), { status: work.outcome === "limit" ? 429 : 503 }) };
  }
}

/** Settles the model's entry of a call whose work ends. */
function endWork(state: State, held: Held, work: Work): void {
  held.isOpen = false;
  const used = usedBy(work, held.amounts.tokens);
  if (used !== undefined) settle(state, held, amountsOf({ tokens: used }));
  if (work.outcome === "limit" || work.outcome === "overload") clear(held.entry);
}
