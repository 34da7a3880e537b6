import { Decision } from "./decision.ts";
import type { Endpoint } from "./endpoints.ts";
import { inFlight } from "./in-flight.ts";
import { IN_FLIGHT_LIMIT, MOST_REQUESTS, MOST_TOKENS, REQUEST_LIMIT, TOKEN_LIMIT } from "./layout.ts";
import { limitOf } from "./limits.ts";
import { firstOf, type PackedCounters, utilization, weigh } from "./packed-counters.ts";
import type { LimitedBy } from "./rate-types.ts";
import type { Ref } from "./record.ts";
import { waitMs } from "./retry.ts";
import type { WindowClock } from "./window-clock.ts";

type Pair = readonly [requests: number, tokens: number];

/** The content of a record: its requests (or output tokens), its tokens, and the limits of both. */
export interface Reading {
  readonly window: number;
  readonly counts: Pair;
  readonly limits: Pair;
}

export function readRecord(counters: PackedCounters, { slot }: Ref, asked: number): Reading {
  const { memory } = counters;
  counters.load(slot, asked);
  const { window, requests, tokens } = counters;
  const requestLimit = limitOf(memory[slot + REQUEST_LIMIT] as number, MOST_REQUESTS);
  const tokenLimit = limitOf((memory[slot + TOKEN_LIMIT] as number) >>> 0, MOST_TOKENS);
  return { window, counts: [requests, tokens], limits: [requestLimit, tokenLimit] };
}

/** A wait that exceeds a whole number of milliseconds by less than this is rounded down to it. */
const SAME_MS = 1e-6;

/**
 * Returns the decision on a request at the time of the last clock reading, without counting the request. Not on the
 * fast path.
 */
export function explain(
  counters: PackedCounters,
  clock: WindowClock,
  endpoint: Endpoint,
  key: Ref | undefined,
  tokens: number,
  inputTokens: number,
  outputTokens: number,
): Decision {
  const { ref, split } = endpoint;
  const { windowMs, isSliding } = clock.windows;
  let limitedBy: LimitedBy | undefined;
  let isTooLarge = false;
  let retryAfterMs = 0;
  let use = 0;

  /** Reads a record once, so that all results about it are consistent, and updates the variables above. */
  const pass = (gate: Ref, more: Pair, names: readonly LimitedBy[]): Reading => {
    const { window, counts, limits } = readRecord(counters, gate, clock.window);
    const stride = counters.strideOf(gate.slot);
    const before = isSliding && stride === 1 ? readRecord(counters, gate, (window - 1) | 0).counts : undefined;
    const last = stride === 1 ? window : firstOf(window, stride) + stride - 1;
    const remainingMs = clock.endOf(clock.whole(last)) - clock.time;
    const now = [0, 0] as [number, number];
    for (const side of [0, 1] as const) {
      const limit = limits[side];
      now[side] = counts[side] + weigh(before?.[side] ?? 0, counters.weight);
      use = Math.max(use, utilization(now[side], limit));
      const wait = waitMs(more[side], limit, counts[side], before?.[side], remainingMs, windowMs);
      const isDenied = now[side] + more[side] > limit;
      // A limit that makes the request impossible takes precedence over one that only delays it.
      if (wait === undefined ? !isTooLarge : isDenied && !limitedBy) limitedBy = names[side];
      isTooLarge ||= wait === undefined;
      retryAfterMs = Math.max(retryAfterMs, wait ?? 0);
    }
    return { window, counts: now, limits };
  };
  const ofKey = key && pass(key, [1, tokens], ["key-rpm", "key-tpm"]);
  const ofEndpoint = pass(ref, [1, tokens], ["endpoint-rpm", "endpoint-tpm"]);
  const ofSplit = split && pass(split, [outputTokens, inputTokens], ["endpoint-output-tpm", "endpoint-input-tpm"]);

  const most = counters.memory[ref.slot + IN_FLIGHT_LIMIT] as number;
  let isFull = false;
  if (most !== -1) {
    const flying = inFlight(counters.memory, ref);
    use = Math.max(use, utilization(flying, most));
    isFull = flying >= most && (most === 0 ? !isTooLarge : !limitedBy);
    if (isFull) limitedBy = "endpoint-in-flight";
    isTooLarge ||= most === 0;
  }

  const { counts, limits, window } = (limitedBy?.startsWith("key") && ofKey) || ofEndpoint;
  const isOutput = limitedBy === "endpoint-output-tpm";
  const shown = ((isOutput || limitedBy === "endpoint-input-tpm") && ofSplit) || { counts, limits };
  const reason = isTooLarge ? "too-large" : isFull ? "in-flight" : limitedBy && "rate";
  return new Decision(
    shown.counts[isOutput ? 0 : 1],
    shown.limits[isOutput ? 0 : 1],
    counts[0],
    limits[0],
    use,
    clock.startOf(clock.whole(window)),
    reason === "rate" ? Math.max(1, Math.ceil(retryAfterMs - SAME_MS)) : undefined,
    limitedBy,
    reason,
    undefined,
    undefined,
    0,
    0,
    undefined,
  );
}
