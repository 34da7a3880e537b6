import { type Charge, Decision, type Extra } from "./decision.ts";
import type { Endpoint } from "./endpoints.ts";
import { explain } from "./explain.ts";
import { enter, inFlight, leave } from "./in-flight.ts";
import { IN_FLIGHT_LIMIT, MOST_REQUESTS, MOST_TOKENS, REQUEST_LIMIT, STATE, TOKEN_LIMIT } from "./layout.ts";
import { checkTokens, limitOf } from "./limits.ts";
import { type PackedCounters, TAKEN, utilization } from "./packed-counters.ts";
import { isLive, type Ref } from "./record.ts";
import type { WindowClock } from "./window-clock.ts";

/** Decides and counts a request once its records are known: first the key's, then the endpoint's. */
export class Decider {
  readonly counters: PackedCounters;
  readonly clock: WindowClock;

  constructor(counters: PackedCounters, clock: WindowClock) {
    this.counters = counters;
    this.clock = clock;
    Decision.prepare();
  }

  /**
   * Decides at the time of the last clock reading. Undefined means that the ids or counts changed during the decision
   * and nothing was counted; the caller reads the clock and tries again.
   *
   * This is the fast path. Every rare case is left to `#decide` and never returns here, so that V8's type assumptions
   * stay valid. The caller reads the clock, because V8 limits the size of inlined code per function.
   */
  decide(
    endpoint: Endpoint,
    key: Ref | undefined,
    tokens: number,
    inputTokens: number | undefined,
    outputTokens: number | undefined,
  ): Decision | undefined {
    const { counters, clock } = this;
    const { memory } = counters;
    const { window } = clock;
    const { slot, state } = endpoint.ref;
    if (!endpoint.isPlain || counters.isSliding) return this.#decide(endpoint, key, tokens, inputTokens, outputTokens);
    // The tightest limit found yet, as a count and its limit; fractions are compared without dividing.
    let count = 0;
    let limit = 1;
    if (key !== undefined) {
      if (!counters.takeOne(key.slot, window, tokens))
        return this.#decide(endpoint, key, tokens, inputTokens, outputTokens);
      const keyRequests = memory[key.slot + REQUEST_LIMIT] as number;
      if (keyRequests !== MOST_REQUESTS) {
        count = counters.requests;
        limit = keyRequests;
      }
      const keyTokens = (memory[key.slot + TOKEN_LIMIT] as number) >>> 0;
      if (keyTokens !== MOST_TOKENS && counters.tokens * limit > count * keyTokens) {
        count = counters.tokens;
        limit = keyTokens;
      }
    }
    if (!counters.takeOne(slot, window, tokens)) {
      if (key !== undefined) counters.adjust(key.slot, window, -tokens, -1);
      return this.#decide(endpoint, key, tokens, inputTokens, outputTokens);
    }
    const { tokens: currentTpm, requests: currentRpm } = counters;
    const requestLimit = memory[slot + REQUEST_LIMIT] as number;
    if (requestLimit !== MOST_REQUESTS && currentRpm * limit > count * requestLimit) {
      count = currentRpm;
      limit = requestLimit;
    }
    const tokenLimit = (memory[slot + TOKEN_LIMIT] as number) >>> 0;
    if (tokenLimit !== MOST_TOKENS && currentTpm * limit > count * tokenLimit) {
      count = currentTpm;
      limit = tokenLimit;
    }
    // Only a check after counting proves that the records still belong to these ids: see record.ts.
    if (memory[slot + STATE] !== state || (key !== undefined && memory[key.slot + STATE] !== key.state)) {
      this.#correct({ endpoint, key, window, tokens, extra: undefined }, -1, 0);
      return undefined;
    }
    return new Decision(
      currentTpm,
      limitOf(tokenLimit, MOST_TOKENS),
      currentRpm,
      limitOf(requestLimit, MOST_REQUESTS),
      utilization(count, limit),
      clock.start,
      undefined,
      undefined,
      undefined,
      endpoint,
      key,
      window,
      tokens,
      undefined,
    );
  }

  /** Decides in all cases that the fast path does not cover. */
  #decide(
    endpoint: Endpoint,
    key: Ref | undefined,
    tokens: number,
    inputTokens: number | undefined,
    outputTokens: number | undefined,
  ): Decision | undefined {
    const granted = this.#grant(endpoint, key, tokens, inputTokens, outputTokens);
    if (granted !== undefined) return granted;
    const { memory } = this.counters;
    const denied = this.explain(endpoint, key, tokens, inputTokens, outputTokens);
    // The denial is valid only if no other thread has freed capacity since then and the records still belong to these
    // ids.
    const isRight = !denied.allowed && isLive(memory, endpoint.ref) && (key === undefined || isLive(memory, key));
    return isRight ? denied : undefined;
  }

  /** Counts the whole request, or nothing of it and returns undefined. */
  #grant(
    endpoint: Endpoint,
    key: Ref | undefined,
    tokens: number,
    inputTokens: number | undefined,
    outputTokens: number | undefined,
  ): Decision | undefined {
    const { counters, clock } = this;
    const { memory } = counters;
    const { ref } = endpoint;
    let { window } = clock;
    let use = 0;
    if (key !== undefined) {
      if (counters.take(key.slot, window, tokens, 1) !== TAKEN) return undefined;
      window = counters.window;
      use = this.#use(key.slot);
    }
    const verdict = counters.take(ref.slot, window, tokens, 1);
    if (verdict !== TAKEN || counters.window !== window) {
      this.#giveBack(verdict, ref.slot, key, window, tokens);
      return undefined;
    }
    const { tokens: currentTpm, requests: currentRpm } = counters;
    use = Math.max(use, this.#use(ref.slot));
    let extra: Extra | undefined;
    if (!endpoint.isPlain) {
      extra = this.#takeExtra(endpoint, key, window, tokens, inputTokens, outputTokens);
      if (extra === undefined) return undefined;
      use = Math.max(use, extra.utilization);
    }
    if (!isLive(memory, ref) || (key !== undefined && !isLive(memory, key))) {
      this.#correct({ endpoint, key, window, tokens, extra }, -1, 0, 0, 0);
      return undefined;
    }
    return new Decision(
      currentTpm,
      limitOf((memory[ref.slot + TOKEN_LIMIT] as number) >>> 0, MOST_TOKENS),
      currentRpm,
      limitOf(memory[ref.slot + REQUEST_LIMIT] as number, MOST_REQUESTS),
      use,
      clock.startOf(clock.whole(window)),
      undefined,
      undefined,
      undefined,
      endpoint,
      key,
      window,
      tokens,
      extra,
    );
  }

  /** Returns the utilization of a record after the last `take`, by the tighter of its limits. */
  #use(slot: number): number {
    const { memory, requests, tokens } = this.counters;
    const requestLimit = limitOf(memory[slot + REQUEST_LIMIT] as number, MOST_REQUESTS);
    const tokenLimit = limitOf((memory[slot + TOKEN_LIMIT] as number) >>> 0, MOST_TOKENS);
    return Math.max(utilization(requests, requestLimit), utilization(tokens, tokenLimit));
  }

  /**
   * Refunds the charges after the endpoint denied the request, or after the window changed since the key was charged:
   * the whole request then belongs into the later window.
   */
  #giveBack(verdict: number, slot: number, key: Ref | undefined, window: number, tokens: number): void {
    const counters = this.counters;
    this.clock.see(counters.window);
    if (verdict === TAKEN) counters.adjust(slot, counters.window, -tokens, -1);
    if (key !== undefined) counters.adjust(key.slot, window, -tokens, -1);
  }

  /** Charges the limits that few endpoints have. Undefined means denied, with all charges of the request refunded. */
  #takeExtra(
    endpoint: Endpoint,
    key: Ref | undefined,
    window: number,
    tokens: number,
    givenInput: number | undefined,
    givenOutput: number | undefined,
  ): Extra | undefined {
    const counters = this.counters;
    const { memory } = counters;
    const { ref, split } = endpoint;
    const inputTokens = part(givenInput, tokens, givenOutput);
    const outputTokens = part(givenOutput, tokens, givenInput);
    let use = 0;
    let generation = -1;
    let isDenied = false;
    if (split !== undefined) {
      const verdict = counters.take(split.slot, window, inputTokens, outputTokens);
      use = this.#use(split.slot);
      isDenied = verdict !== TAKEN || counters.window !== window;
      if (isDenied && verdict === TAKEN) counters.adjust(split.slot, counters.window, -inputTokens, -outputTokens);
    }
    const most = memory[ref.slot + IN_FLIGHT_LIMIT] as number;
    if (!isDenied && most !== -1) {
      generation = enter(memory, ref);
      use = Math.max(use, utilization(inFlight(memory, ref), most));
      isDenied = generation === -1;
      if (isDenied && split !== undefined) counters.adjust(split.slot, window, -inputTokens, -outputTokens);
    }
    if (!isDenied) return { inputTokens, outputTokens, generation, utilization: use };
    this.clock.see(counters.window);
    this.#correct({ endpoint, key, window, tokens, extra: undefined }, -1, 0, 0, 0);
    return undefined;
  }

  /** The decision that `decide` would make, without counting the request. */
  explain(
    endpoint: Endpoint,
    key: Ref | undefined,
    tokens: number,
    inputTokens: number | undefined,
    outputTokens: number | undefined,
  ): Decision {
    const { counters, clock } = this;
    const { slot } = endpoint.ref;
    if (endpoint.isPlain && key === undefined && !counters.isSliding && counters.strideOf(slot) === 1) {
      // Routing peeks at every candidate, and most of them have capacity.
      counters.load(slot, clock.window);
      const { tokens: currentTpm, requests: currentRpm, window, memory } = counters;
      const limitRpm = limitOf(memory[slot + REQUEST_LIMIT] as number, MOST_REQUESTS);
      const limitTpm = limitOf((memory[slot + TOKEN_LIMIT] as number) >>> 0, MOST_TOKENS);
      if (currentRpm < limitRpm && currentTpm + tokens <= limitTpm)
        return new Decision(
          currentTpm,
          limitTpm,
          currentRpm,
          limitRpm,
          this.#use(slot),
          clock.startOf(clock.whole(window)),
          undefined,
          undefined,
          undefined,
          undefined,
          undefined,
          0,
          0,
          undefined,
        );
    }
    const input = part(inputTokens, tokens, outputTokens);
    const output = part(outputTokens, tokens, inputTokens);
    return explain(this.counters, this.clock, endpoint, key, tokens, input, output);
  }

  /** Corrects a decision's charge in its own window; after that window only the request in flight ends. */
  end(charge: Charge, requests: number, tokens: number, input?: number, output?: number): void {
    this.clock.load();
    this.clock.read();
    this.#correct(charge, requests, tokens, input, output, this.clock.whole(charge.window) < this.clock.number);
  }

  /** Changes the charged tokens to `tokens` and adds `requests` (0 or -1) to the charged requests. */
  #correct(charge: Charge, requests: number, tokens: number, input?: number, output?: number, isPast = false): void {
    const counters = this.counters;
    const { endpoint, key, window, extra } = charge;
    const { ref, split } = endpoint;
    const more = tokens - charge.tokens;
    this.#adjust(ref, window, more, requests, isPast);
    if (key !== undefined) this.#adjust(key, window, more, requests, isPast);
    if (extra === undefined) return;
    const { inputTokens, outputTokens, generation } = extra;
    leave(counters.memory, ref, generation);
    if (split !== undefined) {
      const [moreInput, moreOutput] = [(input ?? inputTokens) - inputTokens, (output ?? outputTokens) - outputTokens];
      this.#adjust(split, window, moreInput, moreOutput, isPast);
    }
  }

  /**
   * Corrects one record. A past window is corrected only if the record counts several windows together, because that
   * group may not be over.
   */
  #adjust({ slot }: Ref, window: number, tokens: number, requests: number, isPast: boolean): void {
    const { counters } = this;
    if (!isPast || counters.strideOf(slot) > 1) counters.adjust(slot, window, tokens, requests);
  }
}

/** Returns the input or output tokens of a request: as given, else the most that they can be. */
function part(given: number | undefined, all: number, other: number | undefined): number {
  return given === undefined ? Math.max(0, all - Math.ceil(other ?? 0)) : checkTokens("tokens", given);
}
