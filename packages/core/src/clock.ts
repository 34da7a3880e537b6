import { processWide } from "./process-wide.ts";

/**
 * The source of time for everything in Hivepace. The default is the system clock; tests inject a manual one.
 *
 * An implementation may call back late but should not call back early; callers check again in either case.
 */
export interface Clock {
  /** Monotonic time in milliseconds, with fractions. Its zero point is arbitrary. */
  now(): number;
  /** The wall clock, in milliseconds since 1970; used only to align windows and for display. */
  epochMs(): number;
  /**
   * Calls back once after `ms` milliseconds. Returns a function that cancels the timer and may be called repeatedly,
   * also after it fired.
   */
  after(ms: number, callback: () => void, options?: TimerOptions): () => void;
}

/** Options of one timer. */
export interface TimerOptions {
  /**
   * A background timer (heartbeats, sweeps) does not keep the process alive; a timer that a caller awaits does.
   *
   * @defaultValue false
   */
  background?: boolean;
}

/** Node fires a timer at once when its delay exceeds 31 bits; longer delays are made of several timers. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

class SystemClock implements Clock {
  now(): number {
    return performance.now();
  }

  epochMs(): number {
    return Date.now();
  }

  after(ms: number, callback: () => void, options?: TimerOptions): () => void {
    const dueAt = performance.now() + ms;
    let timer: ReturnType<typeof setTimeout>;
    const arm = (): void => {
      const remaining = dueAt - performance.now();
      timer = setTimeout(fire, Math.min(LONGEST_TIMER_MS, Math.max(0, Math.ceil(remaining))));
      // In browsers a timer is a plain number without `unref`.
      if (options?.background) (timer as { unref?: () => void }).unref?.();
    };
    // Node's timers count in whole milliseconds and may fire up to one millisecond early.
    const fire = (): void => (performance.now() < dueAt ? arm() : callback());
    arm();
    return () => clearTimeout(timer);
  }
}

/**
 * The process's own clock: monotonic, with timers that never fire early and may exceed Node's longest delay. All copies
 * of this package share one object, because a `RateManager` recognises this clock by identity.
 */
export const systemClock: Clock = /* @__PURE__ */ processWide("system-clock.1", () => new SystemClock());
