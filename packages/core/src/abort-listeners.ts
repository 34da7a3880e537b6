import type { AbortSignalLike } from "./abort-signal.ts";
import { processWide } from "./process-wide.ts";

/** A queue that aborted waiters have left and that must be served once all of them are removed. */
export interface AfterAbort {
  afterAbort(): void;
}

/** Ends one wait. Returns the queue that the waiter has left, if other waiters may move up there. */
type EndWait = () => AfterAbort | undefined;

interface Listening {
  readonly waits: Set<{ readonly end: EndWait }>;
  readonly listener: () => void;
}

const listening = /* @__PURE__ */ processWide("abort-listeners.1", () => new WeakMap<AbortSignalLike, Listening>());

/**
 * Calls `end` when the signal is aborted, unless the returned function was called before. All waits of a signal share
 * one listener, which is removed with the last of them: a program may pass one signal to thousands of calls, and Node
 * warns at eleven listeners. An abort first ends all waits of the signal and then serves their queues; otherwise a call
 * that is about to be aborted could be granted.
 *
 * The caller must have checked that the signal is not aborted yet.
 */
export function onAbort(signal: AbortSignalLike, end: EndWait): () => void {
  const known = listening.get(signal) ?? listen(signal);
  const wait = { end };
  known.waits.add(wait);
  return () => {
    if (!known.waits.delete(wait) || known.waits.size > 0) return;
    stopListening(signal, known);
  };
}

function listen(signal: AbortSignalLike): Listening {
  const entry: Listening = { waits: new Set(), listener: () => endAll(signal, entry) };
  listening.set(signal, entry);
  signal.addEventListener("abort", entry.listener);
  return entry;
}

function stopListening(signal: AbortSignalLike, entry: Listening): void {
  signal.removeEventListener("abort", entry.listener);
  if (listening.get(signal) === entry) listening.delete(signal);
}

function endAll(signal: AbortSignalLike, entry: Listening): void {
  stopListening(signal, entry);
  const left = new Set<AfterAbort>();
  for (const wait of entry.waits) {
    entry.waits.delete(wait);
    const queue = wait.end();
    if (queue) left.add(queue);
  }
  for (const queue of left) queue.afterAbort();
}
