import type { DiagnosticEvents } from "./diagnostic-events.ts";

/**
 * The members of a channel of Node's `diagnostics_channel` that Hivepace uses. Check `hasSubscribers` before building
 * an event.
 */
export interface Channel<E> {
  readonly hasSubscribers: boolean;
  publish(message: E): void;
}

/** The names of Hivepace's diagnostics channels; subscribe with Node's `diagnostics_channel`. */
export const channelNames = {
  granted: "hivepace:granted",
  denied: "hivepace:denied",
  waiting: "hivepace:waiting",
  waited: "hivepace:waited",
  ended: "hivepace:ended",
  announced: "hivepace:announced",
  level: "hivepace:level",
  availability: "hivepace:availability",
  member: "hivepace:member",
  published: "hivepace:published",
  received: "hivepace:received",
  ignored: "hivepace:ignored",
  bus: "hivepace:bus",
  synced: "hivepace:synced",
  sending: "hivepace:sending",
  sent: "hivepace:sent",
} as const satisfies Record<string, keyof DiagnosticEvents>;

const nobody: Channel<unknown> = { hasSubscribers: false, publish() {} };

interface HasBuiltins {
  process?: { getBuiltinModule?(id: string): { channel(name: string): Channel<unknown> } | undefined };
}

/**
 * Returns Node's channel of this name, which all copies of this package share; outside Node a channel that never has
 * subscribers.
 */
function channel<N extends keyof DiagnosticEvents>(name: N): Channel<DiagnosticEvents[N]> {
  const node = (globalThis as HasBuiltins).process?.getBuiltinModule?.("node:diagnostics_channel");
  return node?.channel(name) ?? nobody;
}

export const granted = /* @__PURE__ */ channel("hivepace:granted");
export const denied = /* @__PURE__ */ channel("hivepace:denied");
export const waiting = /* @__PURE__ */ channel("hivepace:waiting");
export const waited = /* @__PURE__ */ channel("hivepace:waited");
export const ended = /* @__PURE__ */ channel("hivepace:ended");
export const announced = /* @__PURE__ */ channel("hivepace:announced");
export const level = /* @__PURE__ */ channel("hivepace:level");
export const availability = /* @__PURE__ */ channel("hivepace:availability");
export const member = /* @__PURE__ */ channel("hivepace:member");
export const published = /* @__PURE__ */ channel("hivepace:published");
export const received = /* @__PURE__ */ channel("hivepace:received");
export const ignored = /* @__PURE__ */ channel("hivepace:ignored");
export const busState = /* @__PURE__ */ channel("hivepace:bus");
export const synced = /* @__PURE__ */ channel("hivepace:synced");
export const sending = /* @__PURE__ */ channel("hivepace:sending");
export const sent = /* @__PURE__ */ channel("hivepace:sent");
