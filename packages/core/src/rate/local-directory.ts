import { FLAGS, HEADER_SIZE, NOWHERE, ON_DEMAND, RECORD_SIZE, STATE } from "./layout.ts";
import type { PackedCounters } from "./packed-counters.ts";
import { DEAD, type Directory, FREE, isLive, KINDS, type Kind, LIVE, next, Ref, type Settings } from "./record.ts";

/**
 * Records checked for idleness for each new record. With two checks, idle records are reclaimed faster than new ones
 * are created.
 */
const LOOKS = 2;

/** The names of one kind, and those of them whose record may be reclaimed once it is idle. */
class Shelf {
  readonly refs = new Map<string, Ref>();
  readonly spare = new Set<string>();
  #cursor = this.spare.values();

  /** Returns the record of an idle and unneeded id, or undefined. */
  reclaim(counters: PackedCounters, window: number): Ref | undefined {
    for (let looks = Math.min(LOOKS, this.spare.size); looks > 0; looks--) {
      let { value: name } = this.#cursor.next();
      if (name === undefined) {
        this.#cursor = this.spare.values();
        name = this.#cursor.next().value as string;
      }
      const ref = this.refs.get(name) as Ref;
      const isNeeded = isLive(counters.memory, ref) && !((counters.memory[ref.slot + FLAGS] as number) & ON_DEMAND);
      if (isNeeded) this.spare.delete(name);
      else if (counters.isIdle(ref.slot, window)) {
        this.spare.delete(name);
        this.refs.delete(name);
        const freed = new Ref(ref.slot, ref.state);
        ref.slot = NOWHERE;
        return freed;
      }
    }
    return undefined;
  }
}

/** The records of one thread: names in maps, counters in one plain buffer that grows. */
export class LocalDirectory implements Directory {
  readonly #counters: PackedCounters;
  readonly #shelves: readonly Shelf[] = KINDS.map(() => new Shelf());
  #end = HEADER_SIZE;

  constructor(counters: PackedCounters) {
    this.#counters = counters;
  }

  find(kind: Kind, name: string): Ref | undefined {
    const ref = this.#shelf(kind).refs.get(name);
    return ref !== undefined && isLive(this.#counters.memory, ref) ? ref : undefined;
  }

  set(kind: Kind, name: string, settings: Settings, window: number): Ref {
    const shelf = this.#shelf(kind);
    let ref = shelf.refs.get(name);
    if (ref === undefined) {
      ref = shelf.reclaim(this.#counters, window) ?? new Ref(this.#allocate(), FREE);
      shelf.refs.set(name, ref);
    }
    if (!isLive(this.#counters.memory, ref) || ref.state === FREE)
      ref.state = next(this.#counters.memory[ref.slot + STATE] as number, LIVE);
    const { memory } = this.#counters;
    memory[ref.slot + STATE] = ref.state;
    this.#counters.configure(ref.slot, settings, window);
    if (settings[3] & ON_DEMAND) shelf.spare.add(name);
    return ref;
  }

  remove(kind: Kind, name: string): boolean {
    const ref = this.find(kind, name);
    if (ref === undefined) return false;
    this.#counters.memory[ref.slot + STATE] = next(ref.state, DEAD);
    this.#shelf(kind).spare.add(name);
    return true;
  }

  each(kind: Kind, visit: (name: string, ref: Ref) => void): void {
    for (const [name, ref] of this.#shelf(kind).refs) if (isLive(this.#counters.memory, ref)) visit(name, ref);
  }

  /** Returns all records of a kind, including dead ones. */
  refs(kind: Kind): ReadonlyMap<string, Ref> {
    return this.#shelf(kind).refs;
  }

  #shelf(kind: Kind): Shelf {
    return this.#shelves[kind] as Shelf;
  }

  #allocate(): number {
    const slot = this.#end;
    this.#end += RECORD_SIZE;
    const { memory } = this.#counters;
    if (this.#end > memory.length) {
      this.#counters.memory = new Int32Array(Math.ceil(memory.length * 1.25) + 16 * RECORD_SIZE);
      this.#counters.memory.set(memory);
    }
    return slot;
  }
}
