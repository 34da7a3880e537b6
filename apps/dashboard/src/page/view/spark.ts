import type { Spark } from "../model/overview.ts";

const SVG = "http://www.w3.org/2000/svg";
const [WIDTH, HEIGHT] = [120, 26];

/** The last minutes of one endpoint: an area for the usage, a line for the level. */
export function sparkline(): { readonly element: SVGSVGElement; draw(spark: Spark): void } {
  const element = document.createElementNS(SVG, "svg");
  for (const [name, value] of Object.entries({
    class: "spark",
    viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
    preserveAspectRatio: "none",
    "aria-hidden": "true",
  }))
    element.setAttribute(name, value);
  const [area, line] = ["spark-used", "spark-level"].map((kind) => {
    const path = document.createElementNS(SVG, "path");
    path.setAttribute("class", kind);
    element.append(path);
    return path;
  }) as [SVGPathElement, SVGPathElement];
  return {
    element,
    draw({ used, level }) {
      set(area, pathOf(used, true));
      set(line, pathOf(level, false));
    },
  };
}

function set(path: SVGPathElement, d: string): void {
  if (path.getAttribute("d") !== d) path.setAttribute("d", d);
}

/** Draws a step for each point, with gaps for unknown values. */
function pathOf(values: readonly (number | null)[], isArea: boolean): string {
  const step = WIDTH / Math.max(60, values.length);
  const start = WIDTH - step * values.length;
  const pieces: string[] = [];
  let from: string | undefined;
  const end = (x: string): void => {
    if (isArea && from !== undefined) pieces.push(`L${x} ${HEIGHT}L${from} ${HEIGHT}Z`);
    from = undefined;
  };
  for (const [i, value] of values.entries()) {
    const [left, right] = [(start + i * step).toFixed(1), (start + (i + 1) * step).toFixed(1)];
    if (value === null) {
      end(left);
      continue;
    }
    const y = (1 + (1 - value) * (HEIGHT - 2)).toFixed(1);
    pieces.push(from === undefined ? `M${left} ${y}` : `L${left} ${y}`, `L${right} ${y}`);
    from ??= left;
  }
  end(WIDTH.toFixed(1));
  return pieces.join("");
}
