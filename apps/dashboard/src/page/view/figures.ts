import { type Figure, figuresOf } from "../model/figures.ts";
import { h, setAttribute, setText } from "./dom.ts";
import type { View } from "./view.ts";

/** The large figures. */
export function figures(): View {
  const list = h("dl", { class: "figures" });
  const element = h("section", { "aria-label": "Figures" }, list);
  return {
    element,
    draw({ state: { frame }, resource, limit }) {
      const all = figuresOf(frame, resource, limit);
      while (list.children.length < all.length) list.append(emptyFigure());
      while (list.children.length > all.length) list.lastElementChild?.remove();
      all.forEach((figure, i) => {
        drawFigure(list.children[i] as HTMLElement, figure);
      });
    },
  };
}

const emptyFigure = (): HTMLElement =>
  h("div", { class: "figure" }, h("dt"), h("dd", { class: "value" }), h("dd", { class: "about" }));

function drawFigure(element: HTMLElement, { label, value, about, tone }: Figure): void {
  setAttribute(element, "data-tone", tone);
  [label, value, about].forEach((text, i) => {
    setText(element.children[i] as Element, text);
  });
}
