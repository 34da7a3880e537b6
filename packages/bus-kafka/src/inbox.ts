/** The first offset that still exists, and the offset that the next record will get. */
export interface OffsetRange {
  readonly low: number;
  readonly high: number;
}

/**
 * Decides which records are delivered: each once across rejoins, and to a subject only those after its subscription.
 */
export class Inbox {
  readonly #from = new Map<string, number>();
  #next: number | undefined;

  /** The first offset not handled yet. */
  get next(): number {
    return this.#next ?? 0;
  }

  /**
   * Sets the position to read from; returns how many records were deleted before they were read.
   *
   * A topic that ends before the handled position was replaced: if the topic starts at 0, it was recreated under the
   * same name, and every record is new; otherwise it has lost its end, and no record is new.
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

  /** Marks the record as handled; returns whether it was new. */
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

  /** Whether a record of the subject at this offset must be delivered. */
  wants(subject: string, offset: number): boolean {
    const from = this.#from.get(subject);
    return from !== undefined && offset >= from;
  }
}
