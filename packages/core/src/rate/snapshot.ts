import type { Endpoints } from "./endpoints.ts";
import { type Reading, readRecord } from "./explain.ts";
import { inFlight } from "./in-flight.ts";
import { FLAGS, IN_FLIGHT_LIMIT, SLOW_REQUESTS, SLOW_TOKENS } from "./layout.ts";
import { limitOf } from "./limits.ts";
import type { PackedCounters } from "./packed-counters.ts";
import type { EndpointCount, KeyCount, RateSnapshot } from "./rate-types.ts";
import { type Directory, KEY, type Ref } from "./record.ts";
import type { WindowClock } from "./window-clock.ts";

const NOTHING = { counts: [0, 0], limits: [Infinity, Infinity] } as const;

/** Reads a record with its limits per window, also if the record is counted over several windows. */
function readShown(counters: PackedCounters, ref: Ref, window: number): Pick<Reading, "counts" | "limits"> {
  const { counts, limits } = readRecord(counters, ref, window);
  const stride = counters.strideOf(ref.slot);
  if (stride === 1) return { counts, limits };
  const flags = counters.memory[ref.slot + FLAGS] as number;
  const [requests, tokens] = limits;
  return {
    counts,
    limits: [flags & SLOW_REQUESTS ? requests / stride : requests, flags & SLOW_TOKENS ? tokens / stride : tokens],
  };
}

/** Returns the counts of the window at the last clock reading. */
export function snapshot(
  counters: PackedCounters,
  directory: Directory,
  endpoints: Endpoints,
  clock: WindowClock,
  withKeys: boolean,
): RateSnapshot {
  const { window } = clock;
  const rows: EndpointCount[] = [];
  const pools = new Map<string, string[]>();
  endpoints.each((id, model, { ref, split }, pool) => {
    let models: string[] | undefined;
    if (pool > 0) {
      const name = `${id} ${pool}`;
      models = pools.get(name) ?? [];
      if (models.push(model as string) > 1) return;
      pools.set(name, models);
    }
    const { counts, limits } = readShown(counters, ref, window);
    const parts = split ? readShown(counters, split, window) : NOTHING;
    rows.push({
      id,
      model,
      models,
      requests: counts[0],
      tokens: counts[1],
      outputTokens: parts.counts[0],
      inputTokens: parts.counts[1],
      inFlight: inFlight(counters.memory, ref),
      rpmLimit: limits[0],
      tpmLimit: limits[1],
      outputTpmLimit: parts.limits[0],
      inputTpmLimit: parts.limits[1],
      maxInFlightPerProcess: limitOf(counters.memory[ref.slot + IN_FLIGHT_LIMIT] as number, -1),
    });
  });
  const keys: KeyCount[] = [];
  const addKey = (id: string, ref: Ref): void => {
    const { counts, limits } = readShown(counters, ref, window);
    const [requests, tokens] = counts;
    if (requests + tokens > 0) keys.push({ id, requests, tokens, rpmLimit: limits[0], tpmLimit: limits[1] });
  };
  if (withKeys) directory.each(KEY, addKey);
  const remainingMs = clock.endOf(clock.number) - clock.time;
  return { windowStart: clock.start, windowMs: clock.windows.windowMs, remainingMs, endpoints: rows, keys };
}
