import { slice } from "../model/hexagon.ts";
import { colour } from "./colour.ts";
import { h } from "./dom.ts";

/** A cell to paint: its position and its fill levels, 0 to 1. */
export interface PaintedCell {
  readonly id: string;
  readonly x: number;
  readonly y: number;
  readonly used: number;
  readonly share: number;
  readonly state: "live" | "silent" | "left";
  readonly rim: "plain" | "waits" | "cut" | "chosen" | "focus";
}

export interface Comb {
  readonly width: number;
  readonly height: number;
  readonly totalWidth: number;
  readonly totalHeight: number;
  readonly cells: readonly PaintedCell[];
}

const GLIDE_MS = 450;
/** Above this number, cells change their fill level without an animation. */
const MAX_GLIDING = 200;

/**
 * The canvas behind the names and figures. A thousand cells as outlined elements would keep a browser busy all the
 * time; painting them takes a few milliseconds.
 */
export function hiveCanvas() {
  const canvas = h("canvas", { class: "combs", "aria-hidden": "true" });
  const context = canvas.getContext("2d") as CanvasRenderingContext2D;
  const isStill = matchMedia("(prefers-reduced-motion: reduce)");
  let comb: Comb = { width: 0, height: 0, totalWidth: 0, totalHeight: 0, cells: [] };
  /** Fill levels at present, and at the start of the animation. */
  let [now, before] = [new Map<string, Fill>(), new Map<string, Fill>()];
  let startedAt = 0;
  let frame = 0;

  const paint = (part: number): void => {
    fit(canvas, context, comb);
    now = new Map();
    const palette = paletteNow(comb);
    for (const cell of comb.cells) {
      const fill = between(before.get(cell.id), cell, part);
      now.set(cell.id, fill);
      paintCell(context, comb, palette, cell, fill);
    }
  };
  const glide = (time: number): void => {
    const part = Math.min(1, (time - startedAt) / GLIDE_MS);
    paint(1 - (1 - part) ** 2);
    if (part < 1) frame = requestAnimationFrame(glide);
  };
  return {
    element: canvas,
    /** Paints these cells from now on. `isGliding`: whether fill levels have changed, not only rims. */
    draw(next: Comb, isGliding = true): void {
      const isFew = next.cells.length <= MAX_GLIDING && !isStill.matches;
      comb = next;
      cancelAnimationFrame(frame);
      if (isGliding && isFew) {
        [before, startedAt] = [now, performance.now()];
        frame = requestAnimationFrame(glide);
      } else paint(1);
    },
  };
}

interface Fill {
  readonly used: number;
  readonly share: number;
}

function between(from: Fill | undefined, to: Fill, part: number): Fill {
  if (from === undefined) return to;
  const mix = (a: number, b: number): number => a + (b - a) * part;
  return { used: mix(from.used, to.used), share: mix(from.share, to.share) };
}

function fit(canvas: HTMLCanvasElement, context: CanvasRenderingContext2D, { totalWidth, totalHeight }: Comb): void {
  const scale = devicePixelRatio;
  const [width, height] = [Math.ceil(totalWidth * scale), Math.ceil(totalHeight * scale)];
  if (canvas.width !== width || canvas.height !== height) {
    [canvas.width, canvas.height] = [width, height];
    [canvas.style.width, canvas.style.height] = [`${totalWidth}px`, `${totalHeight}px`];
  }
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, totalWidth, totalHeight);
}

const RIMS = { plain: "--cell-rim", waits: "--wait", cut: "--bad", chosen: "--ink", focus: "--focus" } as const;
/** Rim widths as a fraction of the cell width, and their minimum in pixels. */
const RIM_WIDTHS = {
  plain: [0.018, 1],
  waits: [0.028, 1.25],
  cut: [0.04, 2],
  chosen: [0.04, 2],
  focus: [0.05, 3],
} as const;
const GAP = 0.022;

const paletteNow = ({ height }: Comb) => ({
  height,
  empty: colour("--empty"),
  share: colour("--share-colour"),
  honey: colour("--honey"),
  deep: colour("--honey-deep"),
  card: colour("--card"),
  edge: colour("--edge"),
});
type Palette = ReturnType<typeof paletteNow>;

function paintCell(
  context: CanvasRenderingContext2D,
  comb: Comb,
  palette: Palette,
  cell: PaintedCell,
  fill: Fill,
): void {
  const gap = comb.width * GAP;
  const [width, height] = [comb.width - 2 * gap, comb.height - 2 * gap];
  const [part, least] = RIM_WIDTHS[cell.rim];
  const rim = Math.max(least, comb.width * part);
  context.save();
  context.translate(cell.x + gap, cell.y + gap);
  fillPart(context, slice(width, height, 0, height), colour(RIMS[cell.rim]));
  context.translate(rim, rim);
  const [innerWidth, innerHeight] = [width - 2 * rim, height - 2 * rim];
  const at = (level: number): number => innerHeight * (1 - level);
  const paintPart = (from: number, to: number, style: string | CanvasGradient): void =>
    fillPart(context, slice(innerWidth, innerHeight, from, to), style);
  if (cell.state === "left") paintPart(0, innerHeight, palette.card);
  else if (cell.state === "silent") paintHatch(context, innerWidth, innerHeight, palette);
  else {
    paintPart(0, at(fill.share), palette.empty);
    paintPart(at(fill.share), at(fill.used), palette.share);
    const honey = context.createLinearGradient(0, at(fill.used), 0, innerHeight);
    honey.addColorStop(0, palette.honey);
    honey.addColorStop(1, palette.deep);
    paintPart(at(fill.used), innerHeight, honey);
  }
  context.restore();
}

function fillPart(
  context: CanvasRenderingContext2D,
  corners: ReturnType<typeof slice>,
  style: string | CanvasGradient,
) {
  if (corners.length === 0) return;
  trace(context, corners);
  context.fillStyle = style;
  context.fill();
}

function trace(context: CanvasRenderingContext2D, corners: ReturnType<typeof slice>): void {
  context.beginPath();
  for (const [x, y] of corners) context.lineTo(x, y);
  context.closePath();
}

/** Hatching marks a silent agent. */
function paintHatch(context: CanvasRenderingContext2D, width: number, height: number, { empty, edge }: Palette): void {
  fillPart(context, slice(width, height, 0, height), empty);
  trace(context, slice(width, height, 0, height));
  context.clip();
  context.beginPath();
  for (let x = -height; x < width; x += 5) {
    context.moveTo(x, 0);
    context.lineTo(x + height, height);
  }
  context.strokeStyle = edge;
  context.lineWidth = 1;
  context.stroke();
}
