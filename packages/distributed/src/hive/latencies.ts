/** Time after which the weight of a peak has fallen to a third. */
const DECAY_MS = 10_000;

interface Latency {
  ms: number;
  at: number;
}

/**
 * Latencies of endpoints as peak-sensitive moving averages: a slower call counts at once, faster ones gradually.
 * Routing therefore avoids an endpoint after its first slow call, and tries it again later.
 */
export class Latencies {
  readonly #byEndpoint = new Map<string, Latency>();

  add(endpoint: string, ms: number, now: number): void {
    const known = this.#byEndpoint.get(endpoint);
    if (!known) {
      this.#byEndpoint.set(endpoint, { ms, at: now });
      return;
    }
    if (ms < known.ms) {
      const weight = Math.exp(-(now - known.at) / DECAY_MS);
      known.ms = known.ms * weight + ms * (1 - weight);
    } else known.ms = ms;
    known.at = now;
  }

  /**
   * Expected latency of one more call: the average, times the calls under way and this one. An endpoint without
   * measurements is tried first, with one call at a time. Without calls the average decays, so that a slow endpoint is
   * tried again.
   */
  expected(endpoint: string, inFlight: number, now: number): number {
    const known = this.#byEndpoint.get(endpoint);
    if (!known) return inFlight > 0 ? Number.MAX_SAFE_INTEGER : 0;
    return known.ms * Math.exp(-(now - known.at) / DECAY_MS) * (inFlight + 1);
  }

  keep(isKnown: (endpoint: string) => boolean): void {
    for (const endpoint of this.#byEndpoint.keys()) if (!isKnown(endpoint)) this.#byEndpoint.delete(endpoint);
  }
}
