/**
 * Weighted max-min fair division of `capacity`: no agent gets more than its demand, and an agent whose demand is not met gets
 * at least as much per weight as any other. The result does not depend on names or order, and an inflated demand takes
 * nothing from agents that demand less than their share.
 */
export function fairShares(capacity: number, demands: readonly number[], weights: readonly number[]): number[] {
  const level = waterLevel(capacity, demands, weights);
  return demands.map((demand, i) => Math.min(demand, level * (weights[i] as number)));
}

/** Share per unit of weight at which the capacity is used up; Infinity when all demands are met. */
function waterLevel(capacity: number, demands: readonly number[], weights: readonly number[]): number {
  // The usual case needs no order.
  if (demands.reduce((sum, demand) => sum + demand, 0) < capacity) return Infinity;
  const order = demands.map((_, i) => i).sort((a, b) => height(a) - height(b));
  let left = capacity;
  let weight = weights.reduce((sum, w) => sum + w, 0);
  for (const i of order) {
    if (height(i) * weight > left) return Math.max(0, left) / weight;
    left -= demands[i] as number;
    weight -= weights[i] as number;
  }
  return Infinity;

  function height(i: number): number {
    return (demands[i] as number) / (weights[i] as number);
  }
}
