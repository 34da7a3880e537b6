import type { EndpointConfig } from "@hivepace/core";
import { ManualClock } from "@hivepace/core/testing";
import { createHive } from "@hivepace/distributed";
import { createLimitedFetch, type LimitedFetchOptions } from "../../src/index.ts";

const WINDOW_MS = 60_000;

export interface Workload {
  readonly url: string;
  readonly endpoint: EndpointConfig;
  /** Tokens that the provider counts in each minute. */
  readonly limit: number;
  readonly workers: number;
  readonly minutes: number;
  readonly latencyMs: number;
  readonly options?: LimitedFetchOptions;
  /** The body of a worker's next request. */
  request(worker: number, call: number): object;
  /** The answer to it, and the tokens that the provider counts for it. */
  answer(worker: number, call: number): Answer;
}

interface Answer {
  readonly body: object;
  readonly counted: number;
  /** Undefined for the latency of the workload. */
  readonly latencyMs?: number | undefined;
}

export interface Figures {
  /** The part of the limit that was used after the first minute. */
  readonly utilization: number;
  /** The fullest minute, as a part of the limit. */
  readonly overshoot: number;
  readonly calls: number;
}

/**
 * Workers that send as fast as a hive lets them, to a provider in virtual time that counts the actual usage of a request
 * when the request arrives. The provider refuses nothing: overshoot is measured, not punished.
 */
export async function reservationsOf(workload: Workload): Promise<Figures> {
  const { url, endpoint, limit, workers, minutes } = workload;
  const clock = new ManualClock();
  const hive = await createHive({ endpoints: [endpoint], clock, namespace: "test" });
  const counted: { readonly at: number; readonly tokens: number }[] = [];
  const fetch = (async (_url: string, init: { readonly headers: Record<string, string> }) => {
    const { worker, call } = init.headers;
    const { body, counted: tokens, latencyMs = workload.latencyMs } = workload.answer(Number(worker), Number(call));
    counted.push({ at: clock.now(), tokens });
    await new Promise<void>((resolve) => void clock.after(latencyMs, resolve));
    return new Response(JSON.stringify(body), { headers: { "content-type": "application/json" } });
  }) as unknown as typeof globalThis.fetch;
  const limited = createLimitedFetch(hive, { clock, fetch, ...workload.options });
  const endAt = minutes * WINDOW_MS;
  const work = async (worker: number): Promise<void> => {
    for (let call = 0; clock.now() < endAt; call++) {
      const headers = { worker: String(worker), call: String(call) };
      const body = JSON.stringify(workload.request(worker, call));
      await (await limited(`${url}?worker=${worker}`, { method: "POST", headers, body })).text();
    }
  };
  for (let worker = 0; worker < workers; worker++) void work(worker);
  for (let at = 0; at < endAt; at += 250) await clock.run(250);
  const total = counted.filter(({ at }) => at >= WINDOW_MS).reduce((sum, { tokens }) => sum + tokens, 0);
  return {
    utilization: total / (limit * (minutes - 1)),
    overshoot: fullestWindow(counted) / limit,
    calls: counted.length,
  };
}

function fullestWindow(counted: readonly { readonly at: number; readonly tokens: number }[]): number {
  let most = 0;
  let sum = 0;
  let from = 0;
  for (const { at, tokens } of counted) {
    sum += tokens;
    while ((counted[from]?.at ?? at) <= at - WINDOW_MS) sum -= counted[from++]?.tokens ?? 0;
    most = Math.max(most, sum);
  }
  return most;
}
