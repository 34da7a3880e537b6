import type { LoggedEvent } from "./wire.ts";

/** Maximum number of events kept of each kind. */
export const MAX_EVENTS = 200;

type Event = LoggedEvent["event"];

/** Membership and level events are kept separately, so that hundreds of joins do not evict the last cut. */
const kindOf = ({ type }: Event): "members" | "level" =>
  type === "joined" || type === "silent" || type === "back" || type === "left" ? "members" : "level";

/** The latest events, each with its time. */
export class EventLog {
  readonly #kept = { members: [] as LoggedEvent[], level: [] as LoggedEvent[] };
  #seq = 0;

  add(event: Event, at: number): void {
    const kept = this.#kept[kindOf(event)];
    kept.push({ seq: ++this.#seq, at, event });
    if (kept.length > MAX_EVENTS) kept.shift();
  }

  get lastSeq(): number {
    return this.#seq;
  }

  /** Returns the kept events after `seq`, oldest first. */
  since(seq: number): readonly LoggedEvent[] {
    if (seq >= this.#seq) return [];
    const isNew = (entry: LoggedEvent): boolean => entry.seq > seq;
    return [...this.#kept.members, ...this.#kept.level].filter(isNew).sort((a, b) => a.seq - b.seq);
  }
}
