import type { EventLog } from "./event-log.ts";
import type { History } from "./history.ts";
import type { Frame, Hello, Update } from "./wire.ts";

/** The part of an HTTP response that the fan-out uses. */
export interface Stream {
  /** Bytes that are written and not sent yet. */
  readonly writableLength: number;
  write(text: string): boolean;
  destroy(): unknown;
}

interface Reader {
  readonly stream: Stream;
  /** Sequence numbers of the last point and event that the reader received. */
  point: number;
  event: number;
  /** Number of consecutive updates skipped because the reader was blocked. */
  missed: number;
}

export const MAX_READERS = 64;
/** A reader that skipped this number of updates is disconnected; a live page reconnects. */
export const MAX_MISSED = 60;

/**
 * Sends updates to every page. A page that has not taken the last message gets none until it has, and then all points
 * and events that it missed and that are still kept: a slow reader never builds up a queue.
 */
export class FanOut {
  readonly #readers = new Set<Reader>();
  readonly #history: History;
  readonly #log: EventLog;

  constructor(history: History, log: EventLog) {
    this.#history = history;
    this.#log = log;
  }

  get size(): number {
    return this.#readers.size;
  }

  /** Returns a function that removes the reader. */
  add(stream: Stream, hello: Omit<Hello, "update">, frame: Frame): () => void {
    const reader: Reader = { stream, point: 0, event: 0, missed: 0 };
    this.#readers.add(reader);
    stream.write(message("hello", JSON.stringify({ ...hello, update: this.#updateFor(reader, frame) })));
    this.#markUpToDate(reader);
    return () => void this.#readers.delete(reader);
  }

  /** Sends the frame to all readers that are not blocked; returns the length of the longest message. */
  send(frame: Frame): number {
    // Readers with the same position share one serialized message.
    const texts = new Map<string, string>();
    let length = 0;
    for (const reader of [...this.#readers]) {
      if (reader.stream.writableLength > 0) {
        if (++reader.missed > MAX_MISSED) this.#drop(reader);
        continue;
      }
      const key = `${reader.point} ${reader.event}`;
      const text = texts.get(key) ?? message("update", JSON.stringify(this.#updateFor(reader, frame)));
      texts.set(key, text);
      this.#markUpToDate(reader);
      reader.stream.write(text);
      length = Math.max(length, text.length);
    }
    return length;
  }

  #updateFor({ point, event }: Reader, frame: Frame): Update {
    return { frame, points: this.#history.since(point), events: this.#log.since(event) };
  }

  #markUpToDate(reader: Reader): void {
    reader.point = this.#history.lastSeq;
    reader.event = this.#log.lastSeq;
    reader.missed = 0;
  }

  #drop(reader: Reader): void {
    this.#readers.delete(reader);
    reader.stream.destroy();
  }
}

/** JSON has no raw line breaks, which would end the field. */
const message = (event: string, data: string): string => `event: ${event}\ndata: ${data}\n\n`;
