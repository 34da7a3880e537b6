import { type Cell, cellText } from "../model/cells.ts";
import { amount } from "../model/format.ts";
import { type Honeycomb, honeycomb } from "../model/honeycomb.ts";
import { card, h, name, setAttribute, setChildren, setText, setVariable } from "./dom.ts";
import { hiveKeys } from "./hive-keys.ts";
import type { Choose, Scene, View } from "./view.ts";

/** More cells than this nobody tells apart; the table has them all. */
export const MAX_CELLS = 2_000;
/** Below these widths a cell has no room for a figure, and for a name. */
const FIGURE_WIDTH = 44;
const NAME_WIDTH = 74;
/** More than this do not glide from one filling to the next. */
const MAX_GLIDING = 200;

interface Drawn {
  readonly item: HTMLElement;
  readonly button: HTMLButtonElement;
  readonly figure: HTMLElement;
  /** For those who do not see the cell. */
  readonly words: HTMLElement;
}

/** The agents as cells that fill with their share and their use. */
export function hive(choose: Choose): View {
  const list = h("ul", { class: "hive", "aria-label": "Agents" });
  const empty = h("div", { class: "empty" });
  const readout = h("p", { class: "readout" });
  const more = h("p", { class: "more", hidden: true });
  const element = card("hive", "The hive", list, empty, more, legend(), readout);
  const drawn = new Map<string, Drawn>();
  let scene: Scene | undefined;
  let pointed: string | undefined;

  const drawReadout = (): void => {
    if (scene === undefined) return;
    const { cells, resource, limit, choice } = scene;
    const cell = cells.find(({ agentId }) => agentId === (pointed ?? choice.agentId));
    const hint = cells.length === 0 ? "" : "Point at a cell, or move between cells with the arrow keys.";
    if (cell === undefined) setText(readout, hint);
    else
      readout.replaceChildren(
        name(cell.agentId, "data strong"),
        cellText(cell, resource, limit).slice(cell.agentId.length),
      );
  };
  const point = (agentId: string | undefined): void => {
    pointed = agentId;
    drawReadout();
  };

  const create = (agentId: string): Drawn => {
    const figure = h("span", { class: "cell-figure" });
    const label = h("span", { class: "cell-label", "aria-hidden": "true" }, name(agentId, "cell-name"), figure);
    const words = h("span", { class: "visually-hidden" });
    const button = h(
      "button",
      { type: "button", class: "cell", tabindex: -1 },
      h("span", { class: "comb" }),
      label,
      words,
    );
    button.addEventListener("click", () => {
      choose({ agentId: scene?.choice.agentId === agentId ? undefined : agentId });
    });
    for (const type of ["pointerenter", "focus"]) button.addEventListener(type, () => point(agentId));
    for (const type of ["pointerleave", "blur"]) button.addEventListener(type, () => point(undefined));
    return { item: h("li", {}, button), button, figure, words };
  };

  const draw = (now: Scene): void => {
    scene = now;
    const cells = now.cells.slice(0, MAX_CELLS);
    const there = new Set(cells.map(({ agentId }) => agentId));
    for (const id of drawn.keys()) if (!there.has(id)) drawn.delete(id);
    const comb = honeycomb(cells.length, list.clientWidth || 600, MAX_HEIGHT);
    setAttribute(
      list,
      "data-size",
      comb.width >= NAME_WIDTH ? "large" : comb.width >= FIGURE_WIDTH ? "medium" : "small",
    );
    list.classList.toggle("is-gliding", cells.length <= MAX_GLIDING);
    setVariable(list, "--height", `${Math.ceil(comb.totalHeight)}px`);
    setVariable(list, "--cell-width", `${comb.width}px`);
    setVariable(list, "--cell-height", `${comb.height}px`);
    const indent = Math.max(0, ((list.clientWidth || 600) - comb.totalWidth) / 2);
    const items = cells.map((cell, i) => {
      const one = drawn.get(cell.agentId) ?? create(cell.agentId);
      drawn.set(cell.agentId, one);
      drawCell(one, cell, now, comb, i, indent);
      return one.item;
    });
    setChildren(list, items);
    keys.update();
    empty.hidden = cells.length > 0;
    list.hidden = cells.length === 0;
    drawEmpty(empty, now);
    more.hidden = now.cells.length <= MAX_CELLS;
    setText(more, `${amount(now.cells.length - MAX_CELLS)} more are in the table below.`);
    drawReadout();
  };
  const keys = hiveKeys(list);
  new ResizeObserver(() => scene && draw(scene)).observe(element);
  return { element, draw };
}

/** A crowd does not push everything else off the screen. */
const MAX_HEIGHT = 480;

function drawCell(
  { item, button, figure, words }: Drawn,
  cell: Cell,
  scene: Scene,
  comb: Honeycomb,
  i: number,
  indent: number,
) {
  const { x, y } = comb.at(i);
  setVariable(item, "--x", `${(x + indent).toFixed(1)}px`);
  setVariable(item, "--y", `${y.toFixed(1)}px`);
  setVariable(item, "--used", cell.usedFill.toFixed(3));
  setVariable(item, "--share", Math.max(cell.shareFill, cell.usedFill).toFixed(3));
  setAttribute(item, "data-state", cell.state);
  setAttribute(item, "data-waits", cell.waiting > 0);
  setAttribute(item, "data-cut", cell.hasCut);
  setText(words, cellText(cell, scene.resource, scene.limit));
  setAttribute(button, "aria-pressed", scene.choice.agentId === cell.agentId ? "true" : "false");
  const state = cell.state === "live" ? "" : cell.state;
  setText(figure, state || (cell.waiting > 0 ? `${amount(cell.used)} +${amount(cell.waiting)}` : amount(cell.used)));
}

function drawEmpty(empty: HTMLElement, { state: { hello, frame } }: Scene): void {
  if (empty.hidden) return;
  const where = hello.namespace === "" ? "without a namespace" : `of namespace “${hello.namespace}”`;
  const why = {
    ready: `The bus is there, and no agent ${where} has spoken on it. Agents speak about once a second: is one running, on this bus and in this namespace?`,
    connecting: "The bus is not there yet: is the address right, and the broker running?",
    interrupted: "The bus is away. Agents are heard again when it is back.",
    closed: "The bus was closed: nothing more will be heard.",
  }[frame.bus];
  const ignored = Object.values(frame.ignored).reduce((sum, count) => sum + count, 0);
  const hint =
    ignored > 0 ? ` ${amount(ignored)} messages came that could not be understood: do the agents sign theirs?` : "";
  if (empty.children.length === 0) empty.append(h("p", { class: "empty-title" }, "Nobody heard yet"), h("p"));
  setText(empty.lastElementChild as Element, why + hint);
}

function legend(): HTMLElement {
  const entry = (kind: string, text: string) =>
    h("li", {}, h("span", { class: `swatch swatch-${kind}`, "aria-hidden": "true" }), text);
  return h(
    "ul",
    { class: "legend" },
    entry("used", "used"),
    entry("share", "its share"),
    entry("waits", "something waits"),
    entry("cut", "announced the cut"),
    entry("silent", "silent"),
    entry("left", "left"),
  );
}
