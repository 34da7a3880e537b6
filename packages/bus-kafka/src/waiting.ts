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

/** Settles like `work`; rejects after `ms`, or when `unless` rejects. */
export async function within<T>(ms: number, work: Promise<T>, failure: string, unless?: Promise<never>): Promise<T> {
  let stop: () => void = () => {};
  const late = new Promise<never>((_, reject) => {
    stop = systemClock.after(ms, () => reject(new TooLateError(`${failure} within ${Math.round(ms)} ms`)));
  });
  try {
    return await Promise.race([work, late, ...(unless ? [unless] : [])]);
  } finally {
    stop();
  }
}

/** Resolves after `ms`, or early when the signal is aborted. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const done = (): void => {
      stop();
      signal.removeEventListener("abort", done);
      resolve();
    };
    const stop = systemClock.after(ms, done);
    signal.addEventListener("abort", done);
  });
}
