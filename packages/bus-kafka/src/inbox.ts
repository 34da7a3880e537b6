/** The first offset that is still there, and the one that the next record will get. */
export interface OffsetRange {
  readonly low: number;
  readonly high: number;
}

/** Which records are handed on: each once, over all rejoins, and to a subject only from its subscription on. */
export class Inbox {
  readonly #from = new Map<string, number>();
  #next: number | undefined;

  /** The first offset not handled yet. */
  get next(): number {
    return this.#next ?? 0;
  }

  /**
   * Sets where to read on; gives how many records were deleted before they could be read.
   *
   * A topic that ends before what was handled is another one under the same name, and all of it is news; or, if its
   * beginning is long gone, the same one that has lost its end, and nothing of it is.
   */
  resume({ low, high }: OffsetRange): number {
    const next = this.#next ?? high;
    if (next <= high) {
      this.#next = Math.max(next, low);
      return this.#next - next;
    }
    this.#next = low === 0 ? 0 : high;
    for (const subject of this.#from.keys()) this.#from.set(subject, this.#next);
    return 0;
  }

  /** Whether the record is new; from now on it is not. */
  take(offset: number): boolean {
    if (offset < this.next) return false;
    this.#next = offset + 1;
    return true;
  }

  listen(subject: string, from: number): void {
    this.#from.set(subject, from);
  }

  unlisten(subject: string): void {
    this.#from.delete(subject);
  }

  wants(subject: string, offset: number): boolean {
    const from = this.#from.get(subject);
    return from !== undefined && offset >= from;
  }
}
