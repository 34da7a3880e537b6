import { need } from "../need.ts";
import {
  FLAGS,
  HEADER_SIZE,
  LAST,
  LONGEST_NAME,
  NAME,
  NAME_LENGTH,
  ON_DEMAND,
  SHARED_RECORD_SIZE,
  STATE,
} from "./layout.ts";
import type { PackedCounters } from "./packed-counters.ts";
import { TableFullError } from "./rate-errors.ts";
import {
  DEAD,
  type Directory,
  FREE,
  isLive,
  KINDS,
  type Kind,
  LIVE,
  next,
  PENDING,
  phaseOf,
  Ref,
  type Settings,
  same,
  WRITING,
} from "./record.ts";

/** Maximum number of probes for a name; a table that is half empty needs one or two. */
const MOST_STEPS = 128;

/**
 * The records of several threads: a hash table in shared memory with open addressing. Whole names are compared. Each
 * thread caches where it found a name; the record's STATE shows whether the cached place is still valid.
 */
export class SharedDirectory implements Directory {
  readonly #counters: PackedCounters;
  readonly #memory: Int32Array;
  readonly #names: Uint16Array;
  /** The number of records, a power of two, minus one. */
  readonly #mask: number;
  readonly #found: readonly Map<string, Ref>[] = KINDS.map(() => new Map());

  constructor(counters: PackedCounters) {
    this.#counters = counters;
    this.#memory = counters.memory;
    this.#names = new Uint16Array(this.#memory.buffer);
    this.#mask = 2 ** Math.floor(Math.log2((this.#memory.length - HEADER_SIZE) / SHARED_RECORD_SIZE)) - 1;
  }

  find(kind: Kind, name: string): Ref | undefined {
    const ref = (this.#found[kind] as Map<string, Ref>).get(name);
    return ref !== undefined && isLive(this.#memory, ref) ? ref : this.#search(kind, name);
  }

  set(kind: Kind, name: string, settings: Settings, window: number): Ref {
    need(
      name.length < LONGEST_NAME,
      "id",
      `shorter than ${LONGEST_NAME} characters, with its model, when shared`,
      name,
    );
    for (;;) {
      const known = this.find(kind, name);
      if (known !== undefined) {
        // Another thread may have set the name since the look-up, and explicit settings take precedence over those
        // created on demand.
        if (!(settings[3] & ON_DEMAND)) this.#counters.configure(known.slot, settings, window);
        if (isLive(this.#memory, known)) return known;
        continue;
      }
      const slot = this.#claim(kind, name, window);
      const start = (slot + NAME) * 2;
      this.#memory[slot + NAME_LENGTH] = name.length;
      this.#names[start] = kind;
      for (let i = 0; i < name.length; i++) this.#names[start + 1 + i] = name.charCodeAt(i);
      this.#counters.configure(slot, settings, window);
      this.#publish(slot, kind, name);
    }
  }

  remove(kind: Kind, name: string): boolean {
    for (;;) {
      const ref = this.find(kind, name);
      if (ref === undefined) return false;
      if (this.#step(ref.slot, ref.state, next(ref.state, DEAD))) return true;
    }
  }

  each(kind: Kind, visit: (name: string, ref: Ref) => void): void {
    for (let place = 0; place <= this.#mask; place++) {
      const slot = this.#slot(place);
      const ref = new Ref(slot, this.#state(slot));
      const start = (slot + NAME) * 2;
      if (phaseOf(ref.state) !== LIVE || this.#names[start] !== kind) continue;
      const end = start + 1 + (this.#memory[slot + NAME_LENGTH] as number);
      const name = String.fromCharCode(...this.#names.subarray(start + 1, end));
      if (isLive(this.#memory, ref)) visit(name, ref);
    }
  }

  /** Searches a name that is not cached, or whose cached place is no longer valid. */
  #search(kind: Kind, name: string): Ref | undefined {
    const found = this.#found[kind] as Map<string, Ref>;
    let ref: Ref | undefined;
    // Evicted ids are never looked up again, so the cache must be bounded.
    if (found.size > this.#mask) found.clear();
    found.delete(name);
    this.#walk(kind, name, (slot, state) => {
      // Reads the state again at the end, because the name may have changed while it was read.
      if (phaseOf(state) !== LIVE || !this.#isNamed(slot, kind, name) || this.#state(slot) !== state) return false;
      ref = new Ref(slot, state);
      found.set(name, ref);
      return true;
    });
    return ref;
  }

  /** Visits the possible places of a name in probe order, until a place is free or `visit` returns true. */
  #walk(kind: Kind, name: string, visit: (slot: number, state: number) => boolean): void {
    let place = hash(kind, name);
    for (let step = 1; step <= MOST_STEPS; place += step++) {
      const slot = this.#slot(place);
      const state = this.#state(slot);
      if (visit(slot, state) || state === FREE) return;
    }
  }

  /**
   * Claims a record by setting it to WRITING: the dead record of this name, else a free one, else an idle dead one,
   * else the one created on demand that has been idle longest. Throws TABLE_FULL when there is none.
   */
  #claim(kind: Kind, name: string, window: number): number {
    for (;;) {
      let chosen = 0;
      let chosenState = 0;
      let mostWorth = 0;
      this.#walk(kind, name, (slot, state) => {
        const phase = phaseOf(state);
        const isSame = phase === DEAD && this.#isNamed(slot, kind, name);
        const isSpare =
          phase === DEAD || (phase === LIVE && ((this.#memory[slot + FLAGS] as number) & ON_DEMAND) !== 0);
        let worth = 0;
        if (isSame) worth = Infinity;
        else if (state === FREE) worth = 2 ** 40;
        else if (isSpare && this.#counters.isIdle(slot, window))
          worth = phase === DEAD ? 2 ** 39 : window - (this.#memory[slot + LAST] as number);
        if (worth > mostWorth) {
          mostWorth = worth;
          chosen = slot;
          chosenState = state;
        }
        return isSame;
      });
      if (mostWorth === 0) throw new TableFullError(this.#mask + 1);
      // A live record is first marked DEAD and keeps its name: a thread that still uses it finds it again.
      if (phaseOf(chosenState) === LIVE) this.#step(chosen, chosenState, next(chosenState, DEAD));
      else if (this.#step(chosen, chosenState, next(chosenState, WRITING))) return chosen;
    }
  }

  /**
   * Publishes the claimed record as LIVE, unless another thread has published one of the same name. Each record is
   * PENDING before its thread looks for others, so two concurrent threads see each other: the later one either stops
   * the earlier one or finds it LIVE. Two records of one name are therefore never LIVE; if both stop each other, both
   * threads begin again.
   */
  #publish(slot: number, kind: Kind, name: string): void {
    const pending = same(this.#state(slot), PENDING);
    let phase = LIVE;
    Atomics.store(this.#memory, slot + STATE, pending);
    this.#walk(kind, name, (other, state) => {
      if (other === slot || !this.#isNamed(other, kind, name)) return false;
      if (phaseOf(state) === PENDING) this.#step(other, state, next(state, DEAD));
      if (phaseOf(this.#state(other)) === LIVE) phase = DEAD;
      return phase === DEAD;
    });
    this.#step(slot, pending, same(pending, phase));
  }

  #isNamed(slot: number, kind: Kind, name: string): boolean {
    const start = (slot + NAME) * 2;
    if (this.#memory[slot + NAME_LENGTH] !== name.length || this.#names[start] !== kind) return false;
    for (let i = 0; i < name.length; i++) if (this.#names[start + 1 + i] !== name.charCodeAt(i)) return false;
    return true;
  }

  #state(slot: number): number {
    return Atomics.load(this.#memory, slot + STATE);
  }

  #step(slot: number, from: number, to: number): boolean {
    return Atomics.compareExchange(this.#memory, slot + STATE, from, to) === from;
  }

  #slot(place: number): number {
    return HEADER_SIZE + (place & this.#mask) * SHARED_RECORD_SIZE;
  }
}

/** The FNV-1a hash of a name, with its upper bits mixed into the lower ones. */
function hash(kind: Kind, name: string): number {
  let hash: number = kind;
  for (let i = 0; i < name.length; i++) hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193);
  return hash ^ (hash >>> 15);
}
