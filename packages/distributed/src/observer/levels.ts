import { EPOCHS_AHEAD, FULL, type Level, levelAt, merge, nextStepAt, pausedUntil, withAges } from "../engine/index.ts";
import { agentOf } from "../wire/capacity.ts";
import { BadMessage } from "../wire/fields.ts";

/** A change of a level, by a message or by time alone. */
export type LevelChange =
  | {
      readonly type: "cut";
      readonly resource: string;
      readonly agentId: string;
      readonly reason: string;
      readonly level: number;
    }
  | {
      readonly type: "paused";
      readonly resource: string;
      readonly agentId: string;
      readonly reason: string;
      readonly pausedForMs: number;
    }
  | { readonly type: "raised"; readonly resource: string; readonly level: number };

/** The level of each resource, merged as every agent merges it. */
export class Levels {
  readonly #startedAt: number;
  readonly #levels = new Map<string, { level: Level; emitted: number }>();

  constructor(now: number) {
    this.#startedAt = now;
  }

  of(resource: string): Level {
    return this.#levels.get(resource)?.level ?? FULL;
  }

  /** Merges a level with ages instead of times. Throws `BadMessage` when no honest agent can have sent it. */
  receive(resource: string, received: Level, now: number): LevelChange[] {
    const before = this.of(resource);
    if (before !== FULL && received.epoch > before.epoch + EPOCHS_AHEAD) throw new BadMessage("epoch far ahead");
    const level = merge(before, withAges(received, now));
    if (level === before) return [];
    const changes = this.#changes(resource, before, level, now);
    this.#levels.set(resource, { level, emitted: levelAt(level, now) });
    return changes;
  }

  /** Detects recovery steps, which agents do not announce. */
  sweep(now: number): LevelChange[] {
    const changes: LevelChange[] = [];
    for (const [resource, entry] of this.#levels) {
      const level = levelAt(entry.level, now);
      if (level > entry.emitted) changes.push({ type: "raised", resource, level });
      entry.emitted = level;
    }
    return changes;
  }

  get size(): number {
    return this.#levels.size;
  }

  /** Forgets levels that no agent reports any more. */
  forget(isKnown: (resource: string) => boolean): void {
    for (const resource of this.#levels.keys()) if (!isKnown(resource)) this.#levels.delete(resource);
  }

  nextAt(now: number): number {
    let next = Infinity;
    for (const { level } of this.#levels.values()) next = Math.min(next, nextStepAt(level, now));
    return next;
  }

  /** Cuts from before the observation are not reported as changes. */
  #changes(resource: string, before: Level, level: Level, now: number): LevelChange[] {
    const changes: LevelChange[] = [];
    const cause = { resource, agentId: agentOf(level.origin), reason: level.reason };
    const [was, is] = [levelAt(before, now), levelAt(level, now)];
    const isCut = level.epoch !== before.epoch || level.levelAtCut !== before.levelAtCut;
    if (isCut && is < was && level.cutAt >= this.#startedAt) changes.push({ type: "cut", ...cause, level: is });
    else if (isCut && is > was && before !== FULL) changes.push({ type: "raised", resource, level: is });
    const pausedForMs = pausedUntil(level) - now;
    if (pausedForMs > 0 && level.pausedAt >= this.#startedAt && pausedUntil(level) > pausedUntil(before))
      changes.push({ type: "paused", ...cause, pausedForMs });
    return changes;
  }
}
