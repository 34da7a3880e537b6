import type { AbortSignalLike } from "./abort-signal.ts";

/** A queue that waiters have left and that has to be served once all of them are gone. */
export interface AfterAbort {
  afterAbort(): void;
}

/** Ends one wait. Returns the queue that it has left, if others may move up there. */
type EndWait = () => AfterAbort | undefined;

interface Listening {
  readonly waits: Set<{ readonly end: EndWait }>;
  readonly listener: () => void;
}

const listening = new WeakMap<AbortSignalLike, Listening>();

/**
 * Calls `end` when the signal is aborted, unless the returned function was called before. All waits of a signal share one
 * listener, which is removed with the last of them: a program may pass one signal to thousands of calls, and Node warns
 * at eleven listeners. On abort all waits of the signal end first, and only then are the queues served that they have
 * left: otherwise a call could be granted that is about to be aborted.
 *
 * The caller has checked that the signal is not aborted yet.
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
