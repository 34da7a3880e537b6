import { type ChannelListener, subscribe, unsubscribe } from "node:diagnostics_channel";
import type { DiagnosticEvents } from "@hivepace/core";
import { diag } from "@opentelemetry/api";

export type Listeners = { readonly [N in keyof DiagnosticEvents]?: (event: DiagnosticEvents[N]) => void };

/**
 * Listens to our channels, which all copies of `@hivepace/core` in a process have in common. Whatever goes wrong in a
 * listener is told to OpenTelemetry's `diag`: thrown, it would end the process. Returns the end.
 */
export function listen(listeners: Listeners): () => void {
  const subscribed = Object.entries(listeners).map(([name, hear]) => {
    const safe: ChannelListener = (event) => safely(() => (hear as (event: unknown) => void)(event));
    subscribe(name, safe);
    return [name, safe] as const;
  });
  return () => {
    for (const [name, safe] of subscribed) unsubscribe(name, safe);
  };
}

export function safely(work: () => void): void {
  try {
    work();
  } catch (error) {
    diag.error("@hivepace/otel", error);
  }
}
