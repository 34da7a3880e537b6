import { type CapacityMessage, foreignOrigin } from "../wire/capacity.ts";
import { BadMessage } from "../wire/fields.ts";

/** The number of senders, and of messages without sequence numbers, that are remembered. Announcements are rare. */
const MOST_REMEMBERED = 4_096;
/** Age from which decisions of operators are refused: a recorded one could be replayed after a restart. */
const OLDEST_MS = 5 * 60_000;

/** Detects repeated announcements. A repeated level register changes nothing, but a repeated foreign announcement would cut again. */
export class Replays {
  readonly #numbers = new Map<string, number>();
  readonly #origins = new Map<string, number>();

  /** Throws `BadMessage` for a repeated announcement. */
  check({ agentId, timestamp, ours }: CapacityMessage): void {
    const [known, key, seq] = ours
      ? ([this.#numbers, `${agentId} ${ours.life}`, ours.seq] as const)
      : ([this.#origins, foreignOrigin(agentId, timestamp), 0] as const);
    remember(known, key, seq);
  }

  /** Throws `BadMessage` for a repeated decision of an operator, and for one that is too old to be remembered. */
  checkOrigin(agentId: string, timestamp: Date, now: number): void {
    if (now - timestamp.getTime() > OLDEST_MS) throw new BadMessage("too old");
    remember(this.#origins, foreignOrigin(agentId, timestamp), 0);
  }
}

/** Throws `BadMessage` unless the number is higher than the last of this sender. */
function remember(known: Map<string, number>, key: string, seq: number): void {
  const last = known.get(key);
  if (last !== undefined && seq <= last) throw new BadMessage("replayed");
  known.delete(key);
  known.set(key, seq);
  const [oldest] = known.keys();
  if (known.size > MOST_REMEMBERED && oldest !== undefined) known.delete(oldest);
}
