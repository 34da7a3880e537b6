import type { ChildProcess } from "node:child_process";
import type { Gate, GateRequest, Lease, Refusal, UsedTokens } from "@hivepace/core";

/** A message of a child about one of its requests. */
type Word =
  | { readonly id: number; readonly ask: GateRequest }
  | { readonly id: number; readonly done: UsedTokens | undefined }
  | { readonly id: number; readonly refused: Refusal }
  | { readonly id: number; readonly cancel: true }
  | { readonly id: number; readonly renew: true };

interface Grant {
  readonly id: number;
  readonly endpoint: string;
  readonly model: string | undefined;
}

/** In a child process: the gate of its parent. */
export function gateOfParent(): Gate {
  const waiting = new Map<number, (lease: Lease) => void>();
  let asked = 0;
  const say = (word: Word): void => void process.send?.(word);
  process.on("message", ({ id, endpoint, model }: Grant) => {
    waiting.get(id)?.({
      endpoint,
      model,
      done: (used) => say({ id, done: used }),
      cancel: () => say({ id, cancel: true }),
      refused: (refusal) => say({ id, refused: refusal }),
      failed: ({ used }) => say({ id, done: used }),
      answered: () => undefined,
      renew: () => say({ id, renew: true }),
      [Symbol.dispose]: () => say({ id, done: undefined }),
    });
    waiting.delete(id);
  });
  return {
    acquire: ({ signal: _, ...ask }) =>
      new Promise((resolve) => {
        const id = asked++;
        waiting.set(id, resolve);
        say({ id, ask });
      }),
  };
}

/** In the parent: lets a child use the gate. */
export function lendGate(child: ChildProcess, gate: Gate): void {
  const leases = new Map<number, Lease>();
  child.on("message", (word: Word) => {
    const { id } = word;
    const lease = leases.get(id);
    if ("ask" in word)
      void gate.acquire(word.ask).then((granted) => {
        leases.set(id, granted);
        child.send({ id, endpoint: granted.endpoint, model: granted.model } satisfies Grant);
      });
    else if ("refused" in word) lease?.refused(word.refused);
    else if ("cancel" in word) lease?.cancel();
    else if ("renew" in word) lease?.renew();
    else lease?.done(word.done);
  });
}
