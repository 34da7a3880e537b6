import type { BusEvents } from "./driver.ts";

/** What joins memory buses. Make one with `memoryBroker()` or `threadBroker()`. */
export interface Broker {
  /** Whether members can reach each other now. */
  readonly running: boolean;
  join(member: BusEvents): void;
  leave(member: BusEvents): void;
  /** Hands a copy of the payload to all members. */
  send(subject: string, payload: Uint8Array): void;
  /** Resolves when everything that was sent before has reached the members of this thread. */
  settle(): Promise<void>;
}

/** A broker within one thread, with a switch to see how a program does without one. */
export interface MemoryBroker extends Broker {
  /** From now on it is away: what is published is refused. */
  stop(): void;
  start(): void;
}

/** A broker of its own: only buses that are made with the same one hear each other. */
export function memoryBroker(): MemoryBroker {
  const members = new Set<BusEvents>();
  let running = true;
  const become = (next: boolean): void => {
    if (running === next) return;
    running = next;
    for (const member of [...members]) member.state(running ? "ready" : "interrupted");
  };
  return {
    get running() {
      return running;
    },
    join: (member) => void members.add(member),
    leave: (member) => void members.delete(member),
    send(subject, payload) {
      // Not `slice`, which shares the bytes when the payload is a Buffer.
      const copy = new Uint8Array(payload);
      // Never within the publisher's own call. Who is a member then, hears it.
      queueMicrotask(() => {
        for (const member of [...members]) member.message(subject, copy);
      });
    },
    // Microtasks run in order: those of what was sent before come first.
    settle: async () => {},
    stop: () => become(false),
    start: () => become(true),
  };
}
