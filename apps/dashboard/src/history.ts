import { pointsOf } from "./point.ts";
import type { Frame, Point, PointOfProvider } from "./wire.ts";

/** One point per second, for ten minutes. */
export const POINT_MS = 1_000;
export const MAX_POINTS = 600;
/** Maximum number of tracked resources. The first ones are tracked, until absent for the whole history. */
export const MAX_TRACKED = 32;

/** The latest points, oldest first. Older points are dropped. */
export class History {
  readonly #points: Point[] = [];
  /** The sequence number of the last point of each tracked resource. */
  readonly #tracked = new Map<string, number>();
  #seq = 0;
  #before: Frame["provider"];

  add(frame: Frame): void {
    const seq = ++this.#seq;
    for (const [resource, lastSeq] of this.#tracked) if (lastSeq <= seq - MAX_POINTS) this.#tracked.delete(resource);
    const tracked = frame.resources.filter(({ resource }) => this.#track(resource, seq));
    const resources = pointsOf(frame, tracked);
    const provider = this.#sinceBefore(frame.provider);
    const { at, members } = frame;
    this.#points.push({
      seq,
      at,
      members,
      isBusReady: frame.bus === "ready",
      resources,
      ...(provider && { provider }),
    });
    if (this.#points.length > MAX_POINTS) this.#points.shift();
  }

  get lastSeq(): number {
    return this.#seq;
  }

  /** Returns the kept points after `seq`. */
  since(seq: number): readonly Point[] {
    const missing = Math.min(this.#seq - seq, this.#points.length);
    return missing <= 0 ? [] : this.#points.slice(-missing);
  }

  #track(resource: string, seq: number): boolean {
    if (!this.#tracked.has(resource) && this.#tracked.size >= MAX_TRACKED) return false;
    this.#tracked.set(resource, seq);
    return true;
  }

  #sinceBefore(provider: Frame["provider"]): PointOfProvider | undefined {
    const before = this.#before;
    this.#before = provider;
    if (provider === undefined) return undefined;
    const { accepted, rejected429, usedRequests, usedTokens } = provider;
    // The counters of a restarted provider start at 0, so differences are clamped.
    return {
      accepted: Math.max(0, accepted - (before?.accepted ?? accepted)),
      rejected429: Math.max(0, rejected429 - (before?.rejected429 ?? rejected429)),
      usedRequests,
      usedTokens,
    };
  }
}
