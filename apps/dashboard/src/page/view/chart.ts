import uPlot from "uplot";
import { type Columns, timeRange } from "../model/series.ts";
import { type Column, rowsOf, summaryOf } from "../model/summary.ts";
import { chartOptions, type Drawing, type Line } from "./chart-options.ts";
import { h, setText } from "./dom.ts";

export interface Chart {
  readonly element: HTMLElement;
  draw(columns: Columns, drawing: Drawing): void;
  /** Redraws with the colours of the current theme. */
  restyle(): void;
}

/** A chart with its legend, a summary for screen readers, and a table of the values. */
export function chart(title: string, lines: readonly Line[], options: { readonly maxY?: number } = {}): Chart {
  const plot = h("div", { class: "plot", "aria-hidden": "true" });
  const summary = h("p", { class: "visually-hidden" });
  const body = h("tbody");
  const heads = ["Time", ...lines.map(({ label }) => label)].map((text) => h("th", { scope: "col" }, text));
  const table = h("table", {}, h("caption", {}, title), h("thead", {}, h("tr", {}, ...heads)), body);
  const scroller = h(
    "div",
    { class: "scroller", tabindex: 0, role: "region", "aria-label": `${title}, as a table` },
    table,
  );
  const details = h("details", {}, h("summary", {}, "As a table"), scroller);
  const legend = h("ul", { class: "legend" }, ...lines.map(legendEntry));
  const element = h("div", { class: "chart" }, legend, plot, summary, details);

  let shown: { columns: Columns; drawing: Drawing } | undefined;
  let drawn: uPlot | undefined;

  const drawTable = (): void => {
    if (!details.open || shown === undefined) return;
    const rows = rowsOf(shown.columns, columnsOf(lines, shown.drawing));
    body.replaceChildren(...rows.map((cells) => h("tr", {}, ...cells.map((text) => h("td", {}, text)))));
  };
  const size = () => ({ width: Math.max(200, plot.clientWidth), height: plot.clientHeight || 180 });
  const redraw = (): void => {
    if (shown === undefined) return;
    const { columns, drawing } = shown;
    lines.forEach((_, i) => {
      drawEntry(legend.children[i] as HTMLElement, columns[i + 1] ?? [], lines[i]?.show ?? drawing.show);
    });
    setText(summary, summaryOf(columns, columnsOf(lines, drawing)));
    drawTable();
    const data = columns as unknown as uPlot.AlignedData;
    if (drawn === undefined) {
      const current = () => (shown ?? { drawing }).drawing;
      const setup = chartOptions(lines, current, options.maxY);
      drawn = new uPlot({ ...setup, ...size() }, data, plot);
    }
    const [min, max] = timeRange(columns[0], drawing.nowS);
    drawn.batch(() => {
      drawn?.setData(data, false);
      drawn?.setScale("x", { min, max });
    });
  };
  details.addEventListener("toggle", drawTable);
  new ResizeObserver(() => drawn?.setSize(size())).observe(plot);

  return {
    element,
    draw(columns, drawing) {
      shown = { columns, drawing };
      redraw();
    },
    restyle() {
      drawn?.destroy();
      drawn = undefined;
      redraw();
    },
  };
}

const columnsOf = (lines: readonly Line[], { show }: Drawing): readonly Column[] =>
  lines.map(({ label, show: own }) => ({ label, show: own ?? show }));

const legendEntry = ({ label, kind }: Line): HTMLElement =>
  h("li", {}, h("span", { class: `swatch line-${kind}`, "aria-hidden": "true" }), `${label} `, h("b"));

/** Shows the current value; hidden while the column has no value at all. */
function drawEntry(entry: HTMLElement, values: readonly (number | null)[], show: (value: number) => string): void {
  const now = values.at(-1);
  entry.hidden = values.every((value) => value === null);
  setText(entry.lastElementChild as Element, now == null ? "" : show(now));
}
