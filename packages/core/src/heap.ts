/** An item and its position in the heap; the handle that `remove` takes. */
export interface HeapEntry<T> {
  readonly item: T;
  index: number;
}

/** A binary heap that can also remove an item from the middle, in O(log n). */
export class Heap<T> {
  readonly #entries: HeapEntry<T>[] = [];
  readonly #before: (a: T, b: T) => boolean;

  constructor(before: (a: T, b: T) => boolean) {
    this.#before = before;
  }

  get size(): number {
    return this.#entries.length;
  }

  first(): T | undefined {
    return this.#entries[0]?.item;
  }

  push(item: T): HeapEntry<T> {
    const entry = { item, index: this.#entries.length };
    this.#entries.push(entry);
    this.#rise(entry);
    return entry;
  }

  /** Removes and returns the first item. */
  shift(): T | undefined {
    const entry = this.#entries[0];
    if (entry) this.remove(entry);
    return entry?.item;
  }

  /** Removes this entry; does nothing when the entry is no longer in the heap. */
  remove(entry: HeapEntry<T>): void {
    if (this.#entries[entry.index] !== entry) return;
    const last = this.#entries.pop() as HeapEntry<T>;
    if (last === entry) return;
    this.#place(last, entry.index);
    this.#rise(last);
    this.#sink(last);
  }

  #place(entry: HeapEntry<T>, index: number): void {
    this.#entries[index] = entry;
    entry.index = index;
  }

  #rise(entry: HeapEntry<T>): void {
    while (entry.index > 0) {
      const index = (entry.index - 1) >> 1;
      const parent = this.#entries[index] as HeapEntry<T>;
      if (!this.#before(entry.item, parent.item)) return;
      this.#place(parent, entry.index);
      this.#place(entry, index);
    }
  }

  #sink(entry: HeapEntry<T>): void {
    for (;;) {
      const left = this.#entries[2 * entry.index + 1];
      const right = this.#entries[2 * entry.index + 2];
      const child = right && left && this.#before(right.item, left.item) ? right : left;
      if (!child || !this.#before(child.item, entry.item)) return;
      const { index } = child;
      this.#place(child, entry.index);
      this.#place(entry, index);
    }
  }
}
