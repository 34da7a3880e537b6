/**
 * Maximum size of a batch in bytes. Records that wait during a batch in flight are sent together; a larger record goes
 * alone.
 */
const BATCH_BYTES = 65_536;

interface Entry {
  readonly value: Buffer;
  readonly resolve: () => void;
  readonly reject: (reason: unknown) => void;
}

/** Sends one batch at a time, which preserves the order and is faster than a request for each record. */
export class SendQueue {
  readonly #send: (values: Buffer[]) => Promise<unknown>;
  #waiting: Entry[] = [];
  #sending: Entry[] = [];
  #ended: { reason: unknown } | undefined;

  constructor(send: (values: Buffer[]) => Promise<unknown>) {
    this.#send = send;
  }

  push(value: Buffer): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#ended) return reject(this.#ended.reason);
      this.#waiting.push({ value, resolve, reject });
      if (this.#sending.length === 0) this.#next();
    });
  }

  /** Rejects all records and sends nothing more. */
  end(reason: unknown): void {
    this.#ended ??= { reason };
    for (const entry of [...this.#sending, ...this.#waiting]) entry.reject(reason);
    this.#waiting = [];
  }

  #next(): void {
    this.#sending = this.#takeBatch();
    if (this.#sending.length === 0) return;
    const batch = this.#sending;
    this.#send(batch.map(({ value }) => value))
      .then(
        () => batch.forEach(({ resolve }) => void resolve()),
        (error) => batch.forEach(({ reject }) => void reject(error)),
      )
      .finally(() => this.#next());
  }

  #takeBatch(): Entry[] {
    let bytes = 0;
    let count = 0;
    for (const { value } of this.#waiting) {
      bytes += value.length;
      if (bytes > BATCH_BYTES && count > 0) break;
      count++;
    }
    return this.#waiting.splice(0, count);
  }
}
