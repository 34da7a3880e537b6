/** What an agent does that cannot hear the others, once its trust in the last agreement has run out. */
export type Isolation = "safe" | "balanced" | "available";

/** The part of its share that an agent keeps however long it is cut off. */
export const KEPT: Readonly<Record<Isolation, number>> = { safe: 0, balanced: 0.5, available: 1 };

/** Not all may have known quite the same when the silence began. What was used is counted longer already, see `drift`. */
export const CAUTION = 0.985;

const WHOLE_MS = 25_000;
const HALVING_MS = 5_000;
const NONE_MS = 35_000;

/**
 * How much of what was agreed still holds after so long a silence, 1 to 0. The one who is cut off spends no more than
 * this part of its share, and those who miss it keep the same part free: both measure the same silence.
 */
export function trust(silentMs: number): number {
  if (silentMs <= WHOLE_MS) return 1;
  if (silentMs >= NONE_MS) return 0;
  return 0.5 ** ((silentMs - WHOLE_MS) / HALVING_MS);
}

/**
 * How much of it is kept free for one that has been silent for so long: what it has used stays in the provider's window
 * for as long as that is. If it ended while nobody here could hear it, nobody will ever say what it used until then.
 */
export function partKeptFree(isolation: Isolation, silentMs: number, endedMs: number, windowMs: number): number {
  return Math.max(endedMs < windowMs ? KEPT[isolation] : 0, trust(silentMs - windowMs));
}

/** The last window is looked at in so many parts. */
const PARTS = 12;

/**
 * What an agent that is cut off may have used in its last window, as a part of its share. Its pace falls with its trust,
 * and its window follows as what it sent before runs out: no more than the others keep free for it, a window longer.
 */
export function keptPart(isolation: Isolation, silentMs: number, windowMs: number): number {
  let sum = 0;
  // At the end of each part, when trust is least.
  for (let i = 0; i < PARTS; i++) sum += Math.max(KEPT[isolation], trust(silentMs - (i * windowMs) / PARTS));
  return sum / PARTS;
}
