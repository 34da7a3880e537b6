import { type Cell, cellText } from "../model/cells.ts";
import { amount } from "../model/format.ts";
import { honeycomb } from "../model/honeycomb.ts";
import { card, h, name, setText, setVariable } from "./dom.ts";
import { type Comb, hiveCanvas, type PaintedCell } from "./hive-canvas.ts";
import { hiveCells } from "./hive-cells.ts";
import { emptyHive, hiveLegend } from "./hive-words.ts";
import type { Choose, Scene, View } from "./view.ts";

/** More cells could not be told apart; the table lists all agents. */
const MAX_CELLS = 2_000;
/** Bounds the hive, so that many agents do not push everything else off the screen. */
const MAX_HEIGHT = 480;
const HINT = "Point at a cell, or move between cells with the arrow keys.";

/** The agents as cells that show their share and their usage. */
export function hive(choose: Choose): View & { restyle(): void } {
  let scene: Scene | undefined;
  let pointed: string | undefined;
  let width = 0;
  const canvas = hiveCanvas();
  const list = hiveCells(
    (agentId) => choose({ agentId: scene?.choice.agentId === agentId ? undefined : agentId }),
    (agentId) => {
      pointed = agentId;
      drawReadout();
      if (scene !== undefined) canvas.draw(combOf(scene), false);
    },
  );
  const nobody = emptyHive();
  const readout = h("p", { class: "readout" });
  const more = h("p", { class: "more", hidden: true });
  const frame = h("div", { class: "hive-frame" }, canvas.element, list.element);
  const room = h("div", { class: "hive-room" }, frame, nobody.element);
  const element = card("hive", "The hive", room, more, hiveLegend(), readout);

  const combOf = (now: Scene): Comb => {
    const cells = now.cells.slice(0, MAX_CELLS);
    const { at, ...size } = honeycomb(cells.length, width, MAX_HEIGHT);
    const focused = list.focused();
    const painted = cells.map((cell, i): PaintedCell => {
      const { agentId: id, usedFill: used, state } = cell;
      const share = Math.max(cell.shareFill, used);
      return { id, used, share, state, ...at(i), rim: rimOf(cell, focused, now.choice.agentId) };
    });
    return { ...size, cells: painted };
  };
  const drawReadout = (): void => {
    if (scene === undefined) return;
    const { cells, resource, limit, choice } = scene;
    const cell = cells.find(({ agentId }) => agentId === (pointed ?? choice.agentId));
    if (cell === undefined) {
      setText(readout, HINT);
      return;
    }
    const words = cellText(cell, resource, limit).slice(cell.agentId.length);
    readout.replaceChildren(name(cell.agentId, "data strong"), words);
  };
  const draw = (now: Scene): void => {
    scene = now;
    const isEmpty = now.cells.length === 0;
    [frame.hidden, nobody.element.hidden] = [isEmpty, !isEmpty];
    if (isEmpty) nobody.draw(now);
    width ||= room.clientWidth;
    const comb = combOf(now);
    setVariable(frame, "--width", `${Math.ceil(comb.totalWidth)}px`);
    setVariable(frame, "--height", `${Math.ceil(comb.totalHeight)}px`);
    list.draw(now.cells.slice(0, MAX_CELLS), comb, now);
    canvas.draw(comb);
    more.hidden = now.cells.length <= MAX_CELLS;
    setText(more, `${amount(now.cells.length - MAX_CELLS)} more are in the table below.`);
    drawReadout();
  };
  new ResizeObserver(([entry]) => {
    width = entry?.contentRect.width ?? width;
    if (scene !== undefined) draw(scene);
  }).observe(room);
  return {
    element,
    draw,
    restyle() {
      if (scene !== undefined) canvas.draw(combOf(scene), false);
    },
  };
}

function rimOf({ agentId, hasCut, waiting }: Cell, focused?: string, chosen?: string): PaintedCell["rim"] {
  if (agentId === focused) return "focus";
  if (agentId === chosen) return "chosen";
  if (hasCut) return "cut";
  return waiting > 0 ? "waits" : "plain";
}
