import type { Clock } from "@hivepace/core";

/** Receives every chunk that passes, and the end once. */
export interface StreamWatcher<T> {
  chunk(chunk: T): void;
  /** `isWhole` is false when the reader stopped early or the connection broke. */
  end(isWhole: boolean): void;
}

/** An answer that is not read for this time is read ahead, which ends its lease and frees its connection. */
const UNREAD_MS = 10_000;
/** Bytes of an unread answer that are kept for a late reader. */
const MOST_KEPT = 1_048_576;
/** Memory that a kept chunk takes besides its bytes: a stream of single bytes must not take a hundred times as much. */
const CHUNK_BYTES = 100;

/**
 * The same stream, watched as it passes. The reader's pace is the connection's: nothing is read before the reader reads,
 * unless it stays away. Then up to 1 MiB is read ahead. A larger answer whose reading never began is given up; one whose
 * reading began keeps its connection, and only its lease ends.
 */
export function watchedStream<T>(
  source: ReadableStream<T>,
  watcher: StreamWatcher<T>,
  clock: Clock,
  sizeOf: (chunk: T) => number,
): ReadableStream<T> {
  return new ReadableStream<T>(new WatchedSource(source, watcher, clock, sizeOf), { highWaterMark: 0 });
}

class WatchedSource<T> {
  readonly #reader: ReadableStreamDefaultReader<T>;
  readonly #watcher: StreamWatcher<T>;
  readonly #clock: Clock;
  readonly #sizeOf: (chunk: T) => number;
  readonly #kept: T[] = [];
  #keptSize = 0;
  /** The end of the source, when it is known. */
  #end: { readonly error?: unknown } | undefined;
  #filling: Promise<void> | undefined;
  #isWatcherDone = false;
  #isPulling = false;
  #hasBegun = false;
  #readAt: number;
  #cancelTimer: () => void;

  constructor(source: ReadableStream<T>, watcher: StreamWatcher<T>, clock: Clock, sizeOf: (chunk: T) => number) {
    this.#reader = source.getReader();
    this.#watcher = watcher;
    this.#clock = clock;
    this.#sizeOf = sizeOf;
    this.#readAt = clock.now();
    this.#cancelTimer = this.#checkIn(UNREAD_MS);
  }

  async pull(controller: ReadableStreamDefaultController<T>): Promise<void> {
    this.#isPulling = true;
    this.#hasBegun = true;
    if (this.#kept.length === 0 && this.#end === undefined) await this.#fill();
    this.#isPulling = false;
    this.#readAt = this.#clock.now();
    const chunk = this.#kept.shift();
    if (chunk !== undefined) {
      this.#keptSize -= this.#sizeOf(chunk) + CHUNK_BYTES;
      controller.enqueue(chunk);
    } else if (this.#end !== undefined && "error" in this.#end) controller.error(this.#end.error);
    else if (this.#end !== undefined) controller.close();
  }

  cancel(reason: unknown): Promise<void> {
    this.#over(false);
    this.#end ??= {};
    return this.#reader.cancel(reason);
  }

  /** Reads one chunk. A reader and a read-ahead that wait at the same time wait for the same chunk. */
  #fill(): Promise<void> {
    this.#filling ??= this.#readOne().finally(() => {
      this.#filling = undefined;
    });
    return this.#filling;
  }

  async #readOne(): Promise<void> {
    try {
      const { done, value } = await this.#reader.read();
      if (done) {
        this.#end ??= {};
        this.#over(true);
        return;
      }
      if (!this.#isWatcherDone) this.#watcher.chunk(value);
      this.#kept.push(value);
      this.#keptSize += this.#sizeOf(value) + CHUNK_BYTES;
    } catch (error) {
      this.#end ??= { error };
      this.#over(false);
    }
  }

  #over(isWhole: boolean): void {
    this.#cancelTimer();
    if (!this.#isWatcherDone) this.#watcher.end(isWhole);
    this.#isWatcherDone = true;
  }

  #checkIn(ms: number): () => void {
    return this.#clock.after(ms, () => this.#check(), { background: true });
  }

  #check(): void {
    const idleMs = this.#isPulling ? 0 : this.#clock.now() - this.#readAt;
    if (idleMs < UNREAD_MS) this.#cancelTimer = this.#checkIn(UNREAD_MS - idleMs);
    else void this.#readAhead();
  }

  async #readAhead(): Promise<void> {
    while (this.#end === undefined && this.#keptSize < MOST_KEPT) await this.#fill();
    if (this.#end !== undefined) return;
    this.#over(false);
    if (this.#hasBegun) return;
    const error = new Error("the answer was left unread for too long and its connection was closed");
    this.#end = { error };
    this.#kept.length = 0;
    await this.#reader.cancel(error).catch(() => undefined);
  }
}
