/** A corner, in pixels from the top left of the cell. */
export type Corner = readonly [x: number, y: number];

/**
 * Returns the corners of the slice of a hexagon between two heights: the shape of a filling. The hexagon has a corner
 * at the top; heights count down from there. Empty when the slice has no height.
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

/** Returns the distance of the sides from the vertical axis, at height `y`. */
function halfWidth(width: number, height: number, y: number): number {
  const quarter = height / 4;
  return (width / 2) * Math.min(1, y / quarter, (height - y) / quarter);
}
