import { h, type VNode } from "vue";
import { HEIGHT, lastMinute, pathOf, topOf, WIDTH, x, y } from "./curves.ts";
import type { Result } from "./messages.ts";

/** Names of the lines, by scheme. The class selects the colour in `theme.css`. */
export function nameOf(scheme: string, against: string): string {
  return scheme === "hive" ? "Hivepace" : against;
}

/** Accepted calls of the last minute against the limit, and the level of the swarm. */
export function chart(results: readonly Result[], against: string): VNode {
  const curves = results.map(({ seconds }) => lastMinute(seconds));
  const top = topOf(curves);
  const minutes = Math.round((results[0]?.seconds.length ?? 60) / 60);
  const summary = results
    .map(({ scheme, use }) => `${nameOf(scheme, against)} used ${Math.round(100 * use)} %`)
    .join(", ");
  return h(
    "svg",
    { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": `Chart of the last minute's usage: ${summary}` },
    [
      ...[0, 0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4]
        .filter((value) => value <= top)
        .flatMap((value) => [
          h("line", {
            class: value === 1 ? "limit" : "grid",
            x1: x(0, 1),
            x2: x(1, 1),
            y1: y(value, top),
            y2: y(value, top),
          }),
          h("text", { x: x(0, 1) - 6, y: y(value, top) + 4, "text-anchor": "end" }, `${value * 100} %`),
        ]),
      ...Array.from({ length: Math.floor(minutes / 2) + 1 }, (_, i) =>
        h(
          "text",
          {
            x: x(2 * i, minutes),
            y: HEIGHT - 8,
            "text-anchor": i === 0 ? "start" : 2 * i === minutes ? "end" : "middle",
          },
          `${2 * i} min`,
        ),
      ),
      ...results.slice(0, 1).map(({ levelSeconds }) => h("path", { class: "level", d: pathOf(levelSeconds, top) })),
      ...curves.map((curve, i) => h("path", { class: `curve curve-${i}`, d: pathOf(curve, top) })).reverse(),
    ],
  );
}
