/**
 * The max-min fair division of `capacity`: nobody gets more than they ask for, and nobody gets less than another, by
 * weight, unless they asked for no more. It does not depend on names or order, and asking for more than one needs takes
 * nothing from those who ask for less than their part.
 */
export function fairShares(capacity: number, demands: readonly number[], weights: readonly number[]): number[] {
  const level = waterLevel(capacity, demands, weights);
  return demands.map((demand, i) => Math.min(demand, level * (weights[i] as number)));
}

/** How high the water stands, for each unit of weight; Infinity when there is enough for all. */
function waterLevel(capacity: number, demands: readonly number[], weights: readonly number[]): number {
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
