/** The longest delay of a timer, in milliseconds. */
const LONGEST_MS = 2 ** 31 - 1;

/** Rejects with the signal's reason as soon as it is aborted; a later result is passed to `late`. */
export function abortable<T>(work: Promise<T>, signal: AbortSignal, late?: (value: T) => unknown): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      reject(signal.reason);
      if (late) work.then(late).catch(() => {});
    };
    if (signal.aborted) {
      work.catch(() => {});
      stop();
      return;
    }
    signal.addEventListener("abort", stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}

/** Resolves with false after `ms`, or with true as soon as the signal is aborted. */
export function pause(ms: number, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    if (signal.aborted) {
      resolve(true);
      return;
    }
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve(signal.aborted);
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener("abort", end, { once: true });
  });
}

/** Resolves when the signal is aborted. A timer keeps the process alive until then. */
export async function untilAborted(signal: AbortSignal): Promise<void> {
  while (!(await pause(LONGEST_MS, signal)));
}
