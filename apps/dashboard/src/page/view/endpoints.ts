import { type Utilization, utilizations } from "../model/endpoints.ts";
import { limitText, percent } from "../model/format.ts";
import { card, h, name, setAttribute, setText, setVariable } from "./dom.ts";
import type { View } from "./view.ts";

const SOURCES = {
  store: "From the shared store: what all instances together used.",
  agents: "From what agents say on the bus, against the whole limit; no shared store was given.",
} as const;
const MAX_ROWS = 50;

/** How full each endpoint is, and who says so. */
export function endpoints(): View {
  const source = h("p", { class: "source" });
  const list = h("ul", { class: "endpoints" });
  const empty = h("p", { class: "quiet-text" }, "No endpoint heard yet.");
  const element = card("endpoints", "Endpoints", source, list, empty);
  let names = "";
  return {
    element,
    draw({ state: { frame } }) {
      const usage = utilizations(frame);
      const rows = usage.rows.slice(0, MAX_ROWS);
      setText(source, SOURCES[usage.source]);
      empty.hidden = rows.length > 0;
      const now = JSON.stringify(rows.map((row) => row.name));
      if (now !== names) list.replaceChildren(...rows.map((row) => emptyRow(row.name)));
      names = now;
      rows.forEach((row, i) => {
        drawRow(list.children[i] as HTMLElement, row);
      });
    },
  };
}

const emptyRow = (endpoint: string): HTMLElement =>
  h(
    "li",
    {},
    h("div", { class: "row" }, name(endpoint, "data strong"), h("span", { class: "number" })),
    h("div", { class: "bar", "aria-hidden": "true" }, h("span")),
    h("p", { class: "quiet-text" }),
  );

function drawRow(item: HTMLElement, { part, text }: Utilization): void {
  const [row, bar, about] = [...item.children] as HTMLElement[];
  if (row === undefined || bar === undefined || about === undefined) return;
  setText(row.lastElementChild as Element, part === undefined ? limitText(null) : percent(part));
  setVariable(bar, "--part", String(Math.min(1, part ?? 0)));
  setAttribute(bar, "data-tone", part !== undefined && part > 1 ? "bad" : undefined);
  setText(about, text);
}
