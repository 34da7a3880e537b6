/** Runs tasks one after the other for each key; those of different keys side by side. */
export class KeyedQueue<K> {
  readonly #tails = new Map<K, Promise<unknown>>();

  run<T>(key: K, task: () => Promise<T>): Promise<T> {
    const before = this.#tails.get(key) ?? Promise.resolve();
    const result = before.then(task);
    // The next task runs whatever became of this one.
    const tail = result.catch(() => {}).then(() => void (this.#tails.get(key) === tail && this.#tails.delete(key)));
    this.#tails.set(key, tail);
    return result;
  }
}
