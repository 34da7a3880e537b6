import { pointsOf } from "./point.ts";
import type { Frame, Point, PointOfProvider } from "./wire.ts";

/** Ten minutes of seconds. */
export const POINT_MS = 1_000;
export const MAX_POINTS = 600;
/** So many resources have a history: the first that are heard, until they have not been heard for all of it. */
export const MAX_TRACKED = 32;

/** The last points, oldest first. What is older, or too much, is forgotten. */
export class History {
  readonly #points: Point[] = [];
  /** By resource, the last point in which it was. */
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

  /** Those that came after this one; all that are kept, when it is older than those. */
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
    // One that started anew counts from 0 again.
    return {
      accepted: Math.max(0, accepted - (before?.accepted ?? accepted)),
      rejected429: Math.max(0, rejected429 - (before?.rejected429 ?? rejected429)),
      usedRequests,
      usedTokens,
    };
  }
}
