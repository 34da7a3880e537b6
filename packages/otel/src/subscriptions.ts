import { type ChannelListener, subscribe, unsubscribe } from "node:diagnostics_channel";
import type { DiagnosticEvents } from "@hivepace/core";
import { diag } from "@opentelemetry/api";

export type Listeners = { readonly [N in keyof DiagnosticEvents]?: (event: DiagnosticEvents[N]) => void };

/**
 * Listens to Hivepace's diagnostic channels, which all copies of `@hivepace/core` in a process share. Errors in a
 * listener go to OpenTelemetry's `diag`, because a thrown error would end the process. Returns a function that stops.
 */
export function listen(listeners: Listeners): () => void {
  const subscribed = Object.entries(listeners).map(([name, hear]) => {
    const safe: ChannelListener = (event) => {
      try {
        (hear as (event: unknown) => void)(event);
      } catch (error) {
        report(error);
      }
    };
    subscribe(name, safe);
    return [name, safe] as const;
  });
  return () => {
    for (const [name, safe] of subscribed) unsubscribe(name, safe);
  };
}

/** Runs `work`; reports an error to OpenTelemetry's `diag` instead of throwing. */
export function safely(work: () => void): void {
  try {
    work();
  } catch (error) {
    report(error);
  }
}

function report(error: unknown): void {
  diag.error("@hivepace/otel", error);
}
