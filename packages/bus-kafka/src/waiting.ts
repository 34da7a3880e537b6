import { systemClock } from "@hivepace/core";

export interface Deferred<T> {
  readonly promise: Promise<T>;
  readonly resolve: (value: T) => void;
  readonly reject: (reason: unknown) => void;
}

export function deferred<T>(): Deferred<T> {
  let settle: Omit<Deferred<T>, "promise"> | undefined;
  const promise = new Promise<T>((resolve, reject) => {
    settle = { resolve, reject };
  });
  return { promise, ...(settle as Omit<Deferred<T>, "promise">) };
}

export class TooLateError extends Error {}

export interface WithinOptions {
  /** Rejects when this promise rejects. */
  readonly unless?: Promise<never>;
  /** Nobody waits for the result, so the timer does not keep the process alive. */
  readonly background?: boolean;
}

/** Settles like `work`; rejects after `ms`. */
export async function within<T>(
  ms: number,
  work: Promise<T>,
  failure: string,
  options: WithinOptions = {},
): Promise<T> {
  const { unless, background = false } = options;
  let stop: () => void = () => {};
  const late = new Promise<never>((_, reject) => {
    const end = (): void => reject(new TooLateError(`${failure} within ${Math.round(ms)} ms`));
    stop = systemClock.after(ms, end, { background });
  });
  try {
    return await Promise.race([work, late, ...(unless ? [unless] : [])]);
  } finally {
    stop();
  }
}

/** Resolves after `ms`, or early when the signal is aborted. With `background` the process does not wait for it. */
export function pause(ms: number, signal: AbortSignal, background: boolean): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const done = (): void => {
      stop();
      signal.removeEventListener("abort", done);
      resolve();
    };
    const stop = systemClock.after(ms, done, { background });
    signal.addEventListener("abort", done);
  });
}
