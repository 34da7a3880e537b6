import { type CallOrigin, type Clock, isHivepaceError, type Lease } from "@hivepace/core";
import type { CallEvents } from "./call-events.ts";
import { connectionFailure } from "./connection-failure.ts";
import { mayRepeat } from "./failure.ts";
import type { PacedCall, Pacer, Sending } from "./pacer.ts";
import { endpointsOf } from "./route.ts";

/** Another endpoint, or another model, for calls whose own is unavailable. */
export interface Fallback {
  /** The id of the endpoint at the gate. A request moves to another host only if `endpoints` has its `baseURL`. */
  readonly endpoint: string;
  /**
   * The model at that endpoint.
   *
   * @defaultValue the model of the request
   */
  readonly model?: string | undefined;
}

/**
 * Sends a call to its own endpoint and then, one after the other, to its fallbacks. A call moves on when the gate
 * grants no lease within `afterMs`, when the provider refuses it or fails, or when no connection can be made. At the last fallback it has the rest of its time. When all fail, the caller gets the last answer, or the last
 * error if there was no answer.
 */
export async function sendWithFallbacks<T>(
  pacer: Pacer,
  stages: readonly [PacedCall, ...PacedCall[]],
  afterMs: number,
  clock: Clock,
  events: CallEvents,
  send: (lease: Lease, call: PacedCall) => Promise<Sending<T>>,
): Promise<T> {
  const deadline = clock.now() + stages[0].timeoutMs;
  let answer: { readonly result: T } | undefined;
  let movedFrom: CallOrigin | undefined;
  let moves = 0;
  for (const [i, stage] of stages.entries()) {
    const next = stages[i + 1];
    const leftMs = Math.max(0, deadline - clock.now());
    const timeoutMs = next === undefined ? leftMs : Math.min(leftMs, afterMs);
    let [endpoint = ""] = endpointsOf(stage.route);
    const onSend = (at: string, count: number): void => {
      endpoint = at;
      moves = count;
    };
    const call = { ...stage, timeoutMs, moves, movedFrom, onSend };
    try {
      const sending = await pacer.attempt(call, (lease) => send(lease, call));
      answer = sending;
      if (next === undefined || !mayMove(sending, call)) return sending.result;
    } catch (error) {
      const failure = connectionFailure(error);
      const isUnavailable = isHivepaceError(error, "CAPACITY_EXHAUSTED") || (failure && mayRepeat(failure, call));
      if (next === undefined && answer !== undefined && isUnavailable) return answer.result;
      if (next === undefined || !isUnavailable || stage.signal?.aborted) throw error;
    }
    const [to = ""] = endpointsOf(next.route);
    moves++;
    movedFrom = { resource: endpoint, model: stage.facts.model };
    events.emit({ type: "moved", endpoint, model: stage.facts.model, to, toModel: next.facts.model });
  }
  throw new Error("unreachable: the last stage returns or throws");
}

/** A refused call may be sent elsewhere, unless its body is gone or too large everywhere. */
function mayMove({ refusal, failure }: Sending<unknown>, call: PacedCall): boolean {
  const { isReplayable, signal } = call;
  if (failure) return mayRepeat(failure, call);
  return refusal !== undefined && refusal.class !== "request_too_large" && isReplayable && !signal?.aborted;
}
