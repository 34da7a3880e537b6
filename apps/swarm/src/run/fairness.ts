/** Max-min fair shares: no agent gets more than its demand, and all agents below their demand get the same amount. */
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

/**
 * Jain's index of the amounts served relative to fair shares of the total: 1 when every agent got its fair share, 1/n
 * when one of n got everything. Agents without demand are excluded.
 */
export function jainIndex(served: readonly number[], wanted: readonly number[]): number {
  const total = served.reduce((sum, amount) => sum + amount, 0);
  const fair = fairShares(total, wanted);
  const parts = served.flatMap((amount, i) => ((fair[i] ?? 0) > 0 ? [amount / (fair[i] ?? 1)] : []));
  const sum = parts.reduce((all, part) => all + part, 0);
  const squares = parts.reduce((all, part) => all + part * part, 0);
  return squares > 0 ? (sum * sum) / (parts.length * squares) : 1;
}
