/** Policy for the fraction of its share that an isolated agent keeps once the last agreement has expired. */
export type Isolation = "safe" | "balanced" | "available";

/** Fraction of its share that an agent keeps for any length of isolation. */
export const KEPT: Readonly<Record<Isolation, number>> = { safe: 0, balanced: 0.5, available: 1 };

/** Fraction of the budget that is used, because agents may have known slightly different usage when the silence began. */
export const CAUTION = 0.985;

const WHOLE_MS = 25_000;
const HALVING_MS = 5_000;
const NONE_MS = 35_000;

/**
 * Fraction of the last agreement that still holds after a silence: 1 for 25 s, then halving every 5 s, 0 from 35 s on. An
 * isolated agent uses at most this fraction of its share, and its peers hold the same fraction free for it: both sides
 * measure the same silence.
 */
export function trust(silentMs: number): number {
  if (silentMs <= WHOLE_MS) return 1;
  if (silentMs >= NONE_MS) return 0;
  return 0.5 ** ((silentMs - WHOLE_MS) / HALVING_MS);
}

/**
 * Fraction of a silent peer's share that is held free. It follows the peer's own budget one window later, because the
 * usage of the peer stays in the provider's window. The usage of a peer that ended during this agent's isolation will
 * never be reported, so its permanent part is held for one window.
 */
export function heldFraction(isolation: Isolation, silentMs: number, endedMs: number, windowMs: number): number {
  return Math.max(endedMs < windowMs ? KEPT[isolation] : 0, trust(silentMs - windowMs));
}

/** Number of parts in which the last window is integrated. */
const PARTS = 12;

/**
 * Fraction of its share that an isolated agent may have used in its last window. Its rate falls with {@link trust}, and the sum
 * over its window follows as earlier usage expires. The result never exceeds what peers hold free one window later.
 */
export function budgetFraction(isolation: Isolation, silentMs: number, windowMs: number): number {
  let sum = 0;
  // Evaluated at the end of each part, where trust is lowest.
  for (let i = 0; i < PARTS; i++) sum += Math.max(KEPT[isolation], trust(silentMs - (i * windowMs) / PARTS));
  return sum / PARTS;
}
