/** Where an item stands in its heap; what `remove` takes. */
export interface HeapEntry<T> {
  readonly item: T;
  index: number;
}

/** A binary heap from which an item can also be taken out of the middle, in O(log n). */
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

  /** Takes the first item out. */
  shift(): T | undefined {
    const entry = this.#entries[0];
    if (entry) this.remove(entry);
    return entry?.item;
  }

  /** Takes this entry out; does nothing when it is not in the heap any more. */
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
