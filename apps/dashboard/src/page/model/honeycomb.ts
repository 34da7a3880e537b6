/** The layout of a hive: hexagons with a corner at the top, every other row shifted by half a cell. */
export interface Honeycomb {
  /** Size of a cell, from side to side and from corner to corner. */
  readonly width: number;
  readonly height: number;
  /** Size of the whole layout. */
  readonly totalWidth: number;
  readonly totalHeight: number;
  /** Returns the left and top of a cell. */
  at(index: number): { readonly x: number; readonly y: number };
}

export const LARGEST_CELL = 150;
export const SMALLEST_CELL = 11;

const heightOf = (width: number): number => (width * 2) / Math.sqrt(3);
const totalHeightOf = (width: number, rows: number): number => heightOf(width) * (0.75 * rows + 0.25);

/**
 * Returns the layout with the largest cells that fit; it exceeds `maxHeight` when even the smallest cells do not fit.
 */
export function honeycomb(count: number, maxWidth: number, maxHeight: number): Honeycomb {
  const grid = gridOf(count, maxWidth, maxHeight);
  const { width, rows } = grid;
  // Balanced rows: 4 and 4 cells, not 5 and 3.
  const columns = Math.max(1, Math.ceil(count / rows));
  const height = heightOf(width);
  return {
    width,
    height,
    totalWidth: width * (columns + (rows > 1 ? 0.5 : 0)),
    totalHeight: count === 0 ? 0 : totalHeightOf(width, rows),
    at(index) {
      const [row, column] = [Math.floor(index / columns), index % columns];
      return { x: width * (column + (row % 2) / 2), y: height * 0.75 * row };
    },
  };
}

function gridOf(count: number, maxWidth: number, maxHeight: number): { width: number; rows: number } {
  for (let width = LARGEST_CELL; width > SMALLEST_CELL; width--) {
    const rows = rowsOf(count, width, maxWidth);
    if (totalHeightOf(width, rows) <= maxHeight) return { width, rows };
  }
  return { width: SMALLEST_CELL, rows: rowsOf(count, SMALLEST_CELL, maxWidth) };
}

function rowsOf(count: number, width: number, maxWidth: number): number {
  if (count * width <= maxWidth) return 1;
  const columns = Math.max(1, Math.floor(maxWidth / width - 0.5));
  return Math.ceil(count / columns);
}
