import { type Utilization, utilizations } from "../model/endpoints.ts";
import { percent } from "../model/format.ts";
import { card, h, setAttribute, setText, setVariable } from "./dom.ts";
import { longName } from "./long-name.ts";
import type { View } from "./view.ts";

const MAX_ROWS = 50;

/** Usage of each endpoint as counted by the shared store. Hidden without a store. */
export function endpoints(): View {
  const source = h("p", { class: "source" }, "From the shared store: what all instances together used.");
  const list = h("ul", { class: "endpoints" });
  const empty = h("p", { class: "quiet-text" }, "Nothing is counted there yet.");
  const element = card("endpoints", "Shared store", source, list, empty);
  let names = "";
  return {
    element,
    draw({ state: { frame } }) {
      const usage = utilizations(frame);
      element.hidden = usage === undefined;
      const rows = (usage ?? []).slice(0, MAX_ROWS);
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
    h("div", { class: "row" }, longName(endpoint, "data strong"), h("span", { class: "number" })),
    h("div", { class: "bar", "aria-hidden": "true" }, h("span")),
    h("p", { class: "quiet-text" }),
  );

function drawRow(item: HTMLElement, { part, text }: Utilization): void {
  const [row, bar, about] = [...item.children] as HTMLElement[];
  if (row === undefined || bar === undefined || about === undefined) return;
  setText(row.lastElementChild as Element, percent(part));
  setVariable(bar, "--part", String(Math.min(1, part)));
  setAttribute(bar, "data-tone", part > 1 ? "bad" : undefined);
  setText(about, text);
}
