/** What we use of a channel of Node's `diagnostics_channel`. */
interface Channel {
  readonly hasSubscribers: boolean;
  publish(message: unknown): void;
}

/** A request got its tokens. */
export interface GrantedEvent {
  readonly resource: string;
  readonly cost: number;
}

/** A `tryAcquire` was refused, or an `acquire` could not even wait. */
export interface DeniedEvent {
  readonly resource: string;
  readonly cost: number;
  readonly reason: "no-tokens" | "others-wait" | "unknown" | "closed" | "timeout" | "queue-full" | "too-large";
}

/** A wait came to its end. */
export interface WaitedEvent {
  readonly resource: string;
  readonly cost: number;
  readonly waitedMs: number;
  readonly outcome: "granted" | "aborted" | "timeout" | "too-large" | "removed" | "closed";
}

/** Somebody said that a provider allows less than we thought. */
export interface AnnouncedEvent {
  readonly resource: string;
  readonly reason: string;
}

/** The names of our channels; subscribe with Node's `diagnostics_channel`. */
export const channelNames = {
  granted: "hivepace:granted",
  denied: "hivepace:denied",
  waited: "hivepace:waited",
  announced: "hivepace:announced",
} as const;

const nobody: Channel = { hasSubscribers: false, publish() {} };

interface HasBuiltins {
  process?: { getBuiltinModule?(id: string): { channel(name: string): Channel } | undefined };
}

/** Node's channel of this name; where Node is not, one that nobody can hear. Check `hasSubscribers` before building an event. */
function channel(name: string): Channel {
  const node = (globalThis as HasBuiltins).process?.getBuiltinModule?.("node:diagnostics_channel");
  return node?.channel(name) ?? nobody;
}

export const granted = channel(channelNames.granted);
export const denied = channel(channelNames.denied);
export const waited = channel(channelNames.waited);
export const announced = channel(channelNames.announced);
