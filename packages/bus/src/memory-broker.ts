import type { BusEvents } from "./driver.ts";

/** Connects memory buses. Create one with `memoryBroker()` or `threadBroker()`. */
export interface Broker {
  /** Whether messages can be delivered now. */
  readonly running: boolean;
  /** Adds a member; every later message is handed to the member. */
  join(member: BusEvents): void;
  /** Removes a member. */
  leave(member: BusEvents): void;
  /** Hands a copy of the payload to every member. */
  send(subject: string, payload: Uint8Array): void;
  /** Resolves when all messages sent before have reached the members in this thread. */
  settle(): Promise<void>;
}

/** A broker within one thread that can be stopped, to test how a program behaves without its broker. */
export interface MemoryBroker extends Broker {
  /** Simulates an outage: the state of every bus becomes `interrupted`, and `publish` rejects. */
  stop(): void;
  /** Ends the outage: the state of every bus becomes `ready`. */
  start(): void;
}

/**
 * Creates a separate broker: only buses created with the same broker exchange messages.
 *
 * @example
 * ```ts
 * import { memoryBroker, memoryBus } from "@hivepace/bus";
 *
 * const broker = memoryBroker();
 * const [a, b] = [await memoryBus(broker), await memoryBus(broker)];
 * await a.subscribe("greetings", (payload) => console.log(payload));
 * await b.publish("greetings", new TextEncoder().encode("hello"));
 * ```
 */
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
      // `slice` is no alternative: for a Buffer it shares the bytes instead of copying them.
      const copy = new Uint8Array(payload);
      // Handlers never run inside the call of the publisher. Members at the time of the microtask receive the message.
      queueMicrotask(() => {
        for (const member of [...members]) member.message(subject, copy);
      });
    },
    // Microtasks run in order, so messages sent before are delivered before this promise resolves.
    settle: async () => {},
    stop: () => become(false),
    start: () => become(true),
  };
}
