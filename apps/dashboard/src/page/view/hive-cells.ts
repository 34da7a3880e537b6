import { type Cell, cellText } from "../model/cells.ts";
import { amount } from "../model/format.ts";
import { h, setAttribute, setChildren, setText, setVariable } from "./dom.ts";
import type { Comb } from "./hive-canvas.ts";
import { hiveKeys } from "./hive-keys.ts";
import { longName } from "./long-name.ts";
import type { Scene } from "./view.ts";

/** Minimum cell widths for a figure, and for a name. */
const FIGURE_WIDTH = 44;
const NAME_WIDTH = 74;
/** Number of trailing characters of a long name that fit into the smallest cell with a name. */
const CELL_TAIL = 5;
/** Above this number of cells, descriptions for screen readers are updated less often. */
const FEW = 200;
const WORDS_MS = 5_000;

interface Drawn {
  readonly item: HTMLElement;
  readonly button: HTMLButtonElement;
  readonly figure: HTMLElement;
  readonly words: HTMLElement;
}

/** The cells as buttons, with a name and a figure where there is room, and descriptions for screen readers. */
export function hiveCells(onClick: (agentId: string) => void, onPoint: (agentId: string | undefined) => void) {
  const list = h("ul", { class: "hive", "aria-label": "Agents" });
  const drawn = new Map<string, Drawn>();
  const ids = new WeakMap<Element, string>();
  const keys = hiveKeys(list);
  let wordsAt = 0;

  const create = (agentId: string): Drawn => {
    const figure = h("span", { class: "cell-figure" });
    const label = h(
      "span",
      { class: "cell-label", "aria-hidden": "true" },
      longName(agentId, "cell-name", CELL_TAIL),
      figure,
    );
    const words = h("span", { class: "visually-hidden" });
    const button = h("button", { type: "button", class: "cell", tabindex: -1 }, label, words);
    ids.set(button, agentId);
    const one = { item: h("li", {}, button), button, figure, words };
    drawn.set(agentId, one);
    return one;
  };
  const idAt = ({ target }: Event): string | undefined => {
    const button = (target as Element).closest("button");
    return button === null ? undefined : ids.get(button);
  };
  list.addEventListener("click", (event) => {
    const agentId = idAt(event);
    if (agentId !== undefined) onClick(agentId);
  });
  for (const type of ["pointerover", "focusin"]) list.addEventListener(type, (event) => onPoint(idAt(event)));
  for (const type of ["pointerleave", "focusout"]) list.addEventListener(type, () => onPoint(undefined));

  return {
    element: list,
    /** Returns the agent whose cell has the visible keyboard focus. */
    focused(): string | undefined {
      const button = list.querySelector("button:focus-visible");
      return button === null ? undefined : ids.get(button);
    },
    draw(
      cells: readonly Cell[],
      { cells: places, width, height }: Comb,
      { resource, limit, choice, state }: Scene,
    ): void {
      const there = new Set(cells.map(({ agentId }) => agentId));
      for (const id of drawn.keys()) if (!there.has(id)) drawn.delete(id);
      setAttribute(list, "data-size", width >= NAME_WIDTH ? "large" : width >= FIGURE_WIDTH ? "medium" : "small");
      setVariable(list, "--cell-width", `${width}px`);
      setVariable(list, "--cell-height", `${height}px`);
      const isTime = cells.length <= FEW || state.frame.at - wordsAt >= WORDS_MS;
      if (isTime) wordsAt = state.frame.at;
      const items = cells.map((cell, i) => {
        const one = drawn.get(cell.agentId) ?? create(cell.agentId);
        const { item, button, figure, words } = one;
        setVariable(item, "--x", `${places[i]?.x.toFixed(1)}px`);
        setVariable(item, "--y", `${places[i]?.y.toFixed(1)}px`);
        setAttribute(item, "data-cut", cell.hasCut);
        setAttribute(button, "aria-pressed", choice.agentId === cell.agentId ? "true" : "false");
        if (width >= FIGURE_WIDTH) setText(figure, figureOf(cell, width >= NAME_WIDTH));
        if (isTime || words.textContent === "") setText(words, cellText(cell, resource, limit));
        return item;
      });
      setChildren(list, items);
      keys.update();
    },
  };
}

/** The figure of a cell. A small cell has room for the usage only; its rim shows that something waits. */
function figureOf({ state, used, waiting }: Cell, isLarge: boolean): string {
  if (state !== "live") return state;
  return waiting > 0 && isLarge ? `${amount(used)} +${amount(waiting)}` : amount(used);
}
