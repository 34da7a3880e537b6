import {
  type Clock,
  type Failure,
  type Gate,
  type GateRequest,
  type Lease,
  type LimitObservation,
  MemoryLimiter,
  type Refusal,
  type UsedTokens,
} from "@hivepace/core";

/** How a lease ended, the first time. */
export type Ending =
  | { readonly how: "done"; readonly used: UsedTokens | undefined }
  | { readonly how: "cancelled" }
  | { readonly how: "refused"; readonly refusal: Refusal }
  | { readonly how: "failed"; readonly failure: Failure };

export interface Granted {
  readonly request: GateRequest;
  readonly endpoint: string;
  ending: Ending | undefined;
  renewals: number;
}

export interface LocalGateOptions {
  /** The limit of each endpoint in each window. Unlimited by default. */
  readonly rpm?: number;
  readonly tpm?: number;
  readonly windowMs?: number;
  readonly clock?: Clock;
}

/**
 * A gate for tests, in one process: half of the limit at once and the other half evenly, so that no window of the
 * provider's holds more than the limit. The gate takes the first candidate of a route, and records all reports.
 */
export class LocalGate implements Gate {
  readonly granted: Granted[] = [];
  readonly observed: LimitObservation[] = [];
  readonly #limiter: MemoryLimiter;
  readonly #halves: { readonly requests: number; readonly tokens: number };
  readonly #windowMs: number;
  #isClosed = false;

  constructor({ rpm, tpm, windowMs = 60_000, clock }: LocalGateOptions = {}) {
    this.#limiter = new MemoryLimiter({ clock });
    this.#halves = { requests: (rpm ?? 1e12) / 2, tokens: (tpm ?? 1e12) / 2 };
    this.#windowMs = windowMs;
  }

  async acquire(request: GateRequest): Promise<Lease> {
    const { signal, timeoutMs, priority, tokens = 0 } = request;
    const endpoint = request.endpoint ?? request.route?.flat()[0] ?? "";
    const options = { signal, timeoutMs, priority };
    // Tokens come first, because waits are mostly for them, and a request that gives up must not have taken anything.
    if (tokens > 0) await this.#limiter.acquire(this.#resource("tokens", endpoint), { ...options, cost: tokens });
    await this.#limiter.acquire(this.#resource("requests", endpoint), options);
    const granted: Granted = { request, endpoint, ending: undefined, renewals: 0 };
    this.granted.push(granted);
    const end = (ending: Ending): void => {
      granted.ending ??= ending;
    };
    return {
      endpoint,
      model: request.model,
      done: (used) => end({ how: "done", used }),
      cancel: () => end({ how: "cancelled" }),
      refused: (refusal) => end({ how: "refused", refusal }),
      failed: (failure) => end({ how: "failed", failure }),
      answered: () => undefined,
      renew: () => void granted.renewals++,
      [Symbol.dispose]: () => end({ how: "done", used: undefined }),
    };
  }

  observe(observation: LimitObservation): void {
    this.observed.push(observation);
  }

  get endings(): (Ending | undefined)[] {
    return this.granted.map(({ ending }) => ending);
  }

  close(): Promise<void> {
    this.#isClosed = true;
    return this.#limiter.close();
  }

  #resource(what: "requests" | "tokens", endpoint: string): string {
    const name = `${what}:${endpoint}`;
    const half = this.#halves[what];
    if (!this.#isClosed && this.#limiter.getCapacity(name) === undefined)
      this.#limiter.setCapacity(name, half, this.#windowMs, { burst: half });
    return name;
  }
}
