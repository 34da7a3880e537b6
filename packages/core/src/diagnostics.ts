import type { DiagnosticEvents } from "./diagnostic-events.ts";

/** What we use of a channel of Node's `diagnostics_channel`. Look at `hasSubscribers` before building an event. */
export interface Channel<E> {
  readonly hasSubscribers: boolean;
  publish(message: E): void;
}

/** The names of our channels; subscribe with Node's `diagnostics_channel`. */
export const channelNames = {
  granted: "hivepace:granted",
  denied: "hivepace:denied",
  waiting: "hivepace:waiting",
  waited: "hivepace:waited",
  ended: "hivepace:ended",
  announced: "hivepace:announced",
  level: "hivepace:level",
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

/** Node's channel of this name, the same for all copies of this package; where Node is not, one that nobody can hear. */
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
export const member = /* @__PURE__ */ channel("hivepace:member");
export const published = /* @__PURE__ */ channel("hivepace:published");
export const received = /* @__PURE__ */ channel("hivepace:received");
export const ignored = /* @__PURE__ */ channel("hivepace:ignored");
export const busState = /* @__PURE__ */ channel("hivepace:bus");
export const synced = /* @__PURE__ */ channel("hivepace:synced");
export const sending = /* @__PURE__ */ channel("hivepace:sending");
export const sent = /* @__PURE__ */ channel("hivepace:sent");
