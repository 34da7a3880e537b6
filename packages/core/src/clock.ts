/**
 * Time, as everything here takes it. The system clock is the default; tests bring a manual one.
 *
 * An implementation may call back late but should not call back early; callers check again all the same.
 */
export interface Clock {
  /** Monotonic time in milliseconds, with fractions. Its zero means nothing. */
  now(): number;
  /** The wall clock, in milliseconds since 1970: only for windows and for people. */
  epochMs(): number;
  /** Calls back once after `ms` milliseconds. Returns its cancel, which may be called at any time and again. */
  after(ms: number, callback: () => void, options?: TimerOptions): () => void;
}

/** What kind of timer it is. */
export interface TimerOptions {
  /** A background timer does not keep the process alive (heartbeats, sweeps); a timer that someone awaits does. */
  background?: boolean;
}

/** Node fires a timer at once when its delay does not fit into 31 bits; longer waits are made of several. */
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
      // In browsers a timer is a plain number.
      if (options?.background) (timer as { unref?: () => void }).unref?.();
    };
    // Node's timers count in whole milliseconds and may fire up to one early.
    const fire = (): void => (performance.now() < dueAt ? arm() : callback());
    arm();
    return () => clearTimeout(timer);
  }
}

/** The process's own time: monotonic, with timers that never fire early and may be longer than Node's. */
export const systemClock: Clock = new SystemClock();
