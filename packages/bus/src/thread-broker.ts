import { type Broker, memoryBroker } from "./memory-broker.ts";

/** What we use of the runtime's `BroadcastChannel`, which Node, Deno and browsers share. */
interface Channel {
  postMessage(message: unknown): void;
  onmessage: ((event: { data: unknown }) => void) | null;
  close(): void;
  /** Node's: the channel does not keep the process alive. */
  ref?(): void;
  unref?(): void;
}

/** What travels between threads: a message, or a mark by which a thread knows that all before it has arrived. */
type Frame = { readonly subject: string; readonly payload: Uint8Array } | { readonly mark: string };

/** A broker that joins all threads of this process in which one of the same name is made. */
export function threadBroker(name: string): Broker {
  const local = memoryBroker();
  const marks = new Map<string, () => void>();
  const thread = Math.random().toString(36).slice(2);
  let members = 0;
  let marked = 0;
  let channel: Channel | undefined;

  const open = (): Channel => {
    const { BroadcastChannel } = globalThis as unknown as { BroadcastChannel: new (name: string) => Channel };
    const opened = new BroadcastChannel(`hivepace:${name}`);
    opened.unref?.();
    return opened;
  };
  const receive = (frame: Frame): void => {
    if ("mark" in frame) marks.get(frame.mark)?.();
    else local.send(frame.subject, frame.payload);
  };

  return {
    running: true,
    join(member) {
      local.join(member);
      if (members++ > 0) return;
      channel = open();
      channel.onmessage = ({ data }) => receive(data as Frame);
    },
    leave(member) {
      local.leave(member);
      if (--members > 0) return;
      channel?.close();
      channel = undefined;
      for (const passed of [...marks.values()]) passed();
    },
    send(subject, payload) {
      // The channel reaches the other threads, not this one.
      local.send(subject, payload);
      channel?.postMessage({ subject, payload } satisfies Frame);
    },
    async settle() {
      const mark = `${thread}-${marked++}`;
      const bell = open();
      // Someone waits for this answer, so the process must not end before it.
      channel?.ref?.();
      await new Promise<void>((resolve) => {
        marks.set(mark, resolve);
        bell.postMessage({ mark } satisfies Frame);
      });
      marks.delete(mark);
      bell.close();
      if (marks.size === 0) channel?.unref?.();
      await local.settle();
    },
  };
}
