import type { EventLog } from "./event-log.ts";
import type { History } from "./history.ts";
import type { Frame, Hello, Update } from "./wire.ts";

/** What is used of an HTTP response. */
export interface Stream {
  /** What was written and has not left yet. */
  readonly writableLength: number;
  write(text: string): boolean;
  destroy(): unknown;
}

interface Reader {
  readonly stream: Stream;
  /** The last point and event that were sent to it. */
  point: number;
  event: number;
  /** How many updates in a row it could not take. */
  missed: number;
}

export const MAX_READERS = 64;
/** A reader that took nothing for so many updates is gone; if it is not, it connects again. */
export const MAX_MISSED = 60;

/**
 * Tells every page what is new. A page that has not taken the last message gets none until it has, and then all points and
 * events that it missed and that are still kept: nothing piles up for the slow.
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

  /** Returns its removal. */
  add(stream: Stream, hello: Omit<Hello, "update">, frame: Frame): () => void {
    const reader: Reader = { stream, point: 0, event: 0, missed: 0 };
    this.#readers.add(reader);
    stream.write(message("hello", JSON.stringify({ ...hello, update: this.#updateFor(reader, frame) })));
    this.#markUpToDate(reader);
    return () => void this.#readers.delete(reader);
  }

  /** Returns how many characters a page was sent. */
  send(frame: Frame): number {
    // Those who are up to date are all sent the same.
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

/** JSON has no line breaks of its own, which would end the field. */
const message = (event: string, data: string): string => `event: ${event}\ndata: ${data}\n\n`;
