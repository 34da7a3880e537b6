import type { Effects, Event } from "../engine/index.ts";

const PRIME = 0x01000193;

/** One number per kind of event, so that renaming an event does not change traces. */
const EVENT_CODES: Readonly<Record<Event["type"], number>> = {
  take: 1,
  want: 2,
  settle: 3,
  refused: 4,
  receive: 5,
  announced: 6,
  "external-usage": 7,
  recovered: 8,
  configure: 9,
  remove: 10,
  start: 11,
  "store-reply": 13,
  "store-failure": 14,
  wake: 15,
  leave: 16,
  renewed: 17,
  answer: 18,
  probe: 19,
  park: 20,
  unpark: 21,
  outdated: 22,
  "earlier-usage": 23,
};

/**
 * A hash of everything that happens in a run. Two runs with the same trace made the same decisions from the same events.
 *
 * Objects are hashed by their values in order, without the names of their fields: a pure rename leaves every trace as it
 * was. Numbers are hashed with seven digits, because the last digits of powers differ between versions of V8.
 */
export class Trace {
  readonly #float = new Float32Array(1);
  readonly #bits = new Uint32Array(this.#float.buffer);
  #high = 0x811c9dc5;
  #low = 0x2f0b4a27;

  /** Adds numbers, texts or plain data. */
  add(...values: readonly unknown[]): void {
    for (const value of values) this.#value(value);
  }

  /** Adds one step of an engine: the event and its effects. */
  step(agent: number, now: number, event: Event, effects: Effects): void {
    const { type, ...details } = event;
    this.add(agent, now, EVENT_CODES[type]);
    // The sender's own step has already added the contents of the message.
    if (event.type === "receive") this.add(event.message.id, event.message.seq);
    else this.add(details);
    this.add(effects);
  }

  toString(): string {
    return [this.#high, this.#low].map((half) => (half >>> 0).toString(16).padStart(8, "0")).join("");
  }

  #value(value: unknown): void {
    if (typeof value === "number") this.#number(value);
    else if (typeof value === "string") {
      this.#mix(value.length);
      for (let i = 0; i < value.length; i++) this.#mix(value.charCodeAt(i));
    } else if (typeof value === "boolean") this.#mix(value ? 2 : 1);
    else if (value === undefined || value === null) this.#mix(0);
    else if (ArrayBuffer.isView(value)) for (const byte of value as Uint8Array) this.#mix(byte);
    else {
      const values = Object.values(value as object).filter((field) => field !== undefined);
      this.#mix(values.length);
      for (const field of values) this.#value(field);
    }
  }

  #number(value: number): void {
    // Adding zero turns -0 into 0, so that the sign of a zero does not change the hash.
    this.#float[0] = value + 0;
    this.#mix(this.#bits[0] as number);
  }

  #mix(bits: number): void {
    this.#high = Math.imul(this.#high ^ bits, PRIME);
    this.#low = Math.imul((this.#low ^ bits) + (this.#low >>> 15), 0x85ebca6b);
  }
}
