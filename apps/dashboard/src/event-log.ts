import type { LoggedEvent } from "./wire.ts";

/** So many are kept of each kind. */
export const MAX_EVENTS = 200;

type Event = LoggedEvent["event"];

/** Agents that come and go by the hundred do not push out who cut the limit. */
const kindOf = ({ type }: Event): "members" | "level" =>
  type === "joined" || type === "silent" || type === "back" || type === "left" ? "members" : "level";

/** The last events, each with its time. */
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

  /** Those that came after this one and are still kept, oldest first. */
  since(seq: number): readonly LoggedEvent[] {
    if (seq >= this.#seq) return [];
    const isNew = (entry: LoggedEvent): boolean => entry.seq > seq;
    return [...this.#kept.members, ...this.#kept.level].filter(isNew).sort((a, b) => a.seq - b.seq);
  }
}
