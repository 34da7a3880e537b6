import { type Broker, memoryBroker } from "./memory-broker.ts";

/** The part of `BroadcastChannel` that Node, Deno and browsers share. */
interface Channel {
  postMessage(message: unknown): void;
  onmessage: ((event: { data: unknown }) => void) | null;
  close(): void;
  /** Node only: controls whether the channel keeps the process alive. */
  ref?(): void;
  unref?(): void;
}

/** A frame between threads: a message, or a mark whose arrival proves that all earlier frames have arrived. */
type Frame = { readonly subject: string; readonly payload: Uint8Array } | { readonly mark: string };

/** Creates a broker that connects all threads of this process which create a broker of the same name. */
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
      // The channel delivers to other threads only, so members in this thread are served directly.
      local.send(subject, payload);
      channel?.postMessage({ subject, payload } satisfies Frame);
    },
    async settle() {
      const mark = `${thread}-${marked++}`;
      const bell = open();
      // The caller of `settle` awaits the mark, so the process must not exit before its arrival.
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
