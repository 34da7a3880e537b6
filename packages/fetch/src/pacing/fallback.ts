import { type Clock, isHivepaceError, type Lease } from "@hivepace/core";
import type { CallEvents } from "./call-events.ts";
import { neverLeft } from "./never-left.ts";
import type { PacedCall, Pacer, Sending } from "./pacer.ts";

/** Another endpoint, or another model, for calls whose own is unavailable. */
export interface Fallback {
  /** As the gate knows it. To another host, a request moves only if `endpoints` has its `baseURL`. */
  readonly endpoint: string;
  /** The model to ask for there. Default: the model of the request. */
  readonly model?: string | undefined;
}

/**
 * Sends a call at its own place and then, one after the other, at its fallbacks. A call moves on when the gate has no room
 * within `afterMs`, when the provider refuses it for longer than that, or when no connection can be made. At the last place
 * it has the rest of its time. When all fail, the caller gets the last answer, or the last error if there was no answer.
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
  for (const [i, stage] of stages.entries()) {
    const next = stages[i + 1];
    const leftMs = Math.max(0, deadline - clock.now());
    const call = { ...stage, timeoutMs: next === undefined ? leftMs : Math.min(leftMs, afterMs) };
    try {
      const sending = await pacer.attempt(call, (lease) => send(lease, call));
      answer = sending;
      if (next === undefined || !mayMove(sending, call)) return sending.result;
    } catch (error) {
      const isUnavailable = isHivepaceError(error, "CAPACITY_EXHAUSTED") || neverLeft(error);
      if (next === undefined && answer !== undefined && isUnavailable) return answer.result;
      if (next === undefined || !isUnavailable || stage.signal?.aborted) throw error;
    }
    const [endpoint = "", to = ""] = [stage.route[0], next.route[0]];
    events.emit({ type: "moved", endpoint, model: stage.facts.model, to, toModel: next.facts.model });
  }
  throw new Error("unreachable: the last stage returns or throws");
}

/** A refused call may be sent elsewhere, unless its body is gone or too large everywhere. */
function mayMove({ refusal }: Sending<unknown>, { isReplayable, signal }: PacedCall): boolean {
  return refusal !== undefined && refusal.class !== "request_too_large" && isReplayable && !signal?.aborted;
}
