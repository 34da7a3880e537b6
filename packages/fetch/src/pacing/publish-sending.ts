import type { CallOrigin, Clock, Lease, SentEvent } from "@hivepace/core";
import { safeError, sending, sent } from "@hivepace/core/internal";
import type { PacedCall, Sending } from "./pacer.ts";

/** The history of a call before this sending. */
interface Earlier {
  readonly retries: number;
  readonly delayMs: number;
  readonly moves: number;
  readonly movedFrom: CallOrigin | undefined;
}

/** Sends a request, and publishes the diagnostics events before and after it where anything subscribes to them. */
export async function publishSending<T>(
  { facts: { model }, provider }: PacedCall,
  earlier: Earlier,
  lease: Lease,
  clock: Clock,
  send: () => Promise<Sending<T>>,
): Promise<Sending<T>> {
  if (!sending.hasSubscribers && !sent.hasSubscribers) return send();
  const sentAt = clock.now();
  const about = { resource: lease.endpoint, model, provider, retries: earlier.retries, lease, call: {} };
  let run = send;
  const within = (around: <R>(send: () => R) => R): void => {
    const inner = run;
    run = () => around(inner);
  };
  sending.publish({ ...about, ...earlier, within });
  const publish = (outcome: SentEvent["outcome"], refusal: string | undefined, error: unknown): void =>
    sent.publish({ ...about, durationMs: clock.now() - sentAt, outcome, refusal, error });
  try {
    const result = await run();
    const refusal = result.refusal?.class;
    publish(refusal === undefined ? "answered" : "refused", refusal, undefined);
    return result;
  } catch (error) {
    // An error of a client may hold the headers of the request, and with them the key.
    publish("failed", undefined, safeError(error));
    throw error;
  }
}
