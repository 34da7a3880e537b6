/** Max-min fair: nobody gets more than it wants, and who gets less than it wants gets as much as any other. */
export function fairShares(total: number, wanted: readonly number[]): number[] {
  const shares = wanted.map(() => 0);
  const order = wanted.map((_, i) => i).sort((a, b) => (wanted[a] ?? 0) - (wanted[b] ?? 0));
  let left = total;
  for (const [served, i] of order.entries()) {
    const share = Math.min(wanted[i] ?? 0, left / (order.length - served));
    shares[i] = share;
    left -= share;
  }
  return shares;
}

/** Who wants less than this, in fair shares, is not held back by anyone. */
const BUSY = 1.2;

/**
 * Jain's index of those who wanted clearly more than there was for them: 1 when all of them got the same, 1/n when one of
 * n got it all.
 */
export function jainIndex(served: readonly number[], wanted: readonly number[]): number {
  const total = served.reduce((sum, amount) => sum + amount, 0);
  const fair = fairShares(total, wanted);
  const busy = served.filter((_, i) => (wanted[i] ?? 0) > BUSY * (fair[i] ?? 0));
  const sum = busy.reduce((all, amount) => all + amount, 0);
  const squares = busy.reduce((all, amount) => all + amount * amount, 0);
  return squares > 0 ? (sum * sum) / (busy.length * squares) : 1;
}
