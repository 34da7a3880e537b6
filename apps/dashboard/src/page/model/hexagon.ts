/** A corner, in a cell's own measure. */
export type Corner = readonly [x: number, y: number];

/**
 * The part of a hexagon between two heights, as its corners: what a filling is made of. The hexagon has a corner at the
 * top; heights count from there down. Empty when there is nothing between them.
 */
export function slice(width: number, height: number, from: number, to: number): readonly Corner[] {
  const [top, bottom] = [Math.max(0, from), Math.min(height, to)];
  if (bottom <= top) return [];
  const shoulders = [height / 4, (height * 3) / 4].filter((y) => y > top && y < bottom);
  const heights = [top, ...shoulders, bottom];
  const right = heights.map((y): Corner => [width / 2 + halfWidth(width, height, y), y]);
  const left = heights.map((y): Corner => [width / 2 - halfWidth(width, height, y), y]);
  return [...right, ...left.reverse()];
}

/** How far the sides are from the middle, at this height. */
function halfWidth(width: number, height: number, y: number): number {
  const quarter = height / 4;
  return (width / 2) * Math.min(1, y / quarter, (height - y) / quarter);
}
