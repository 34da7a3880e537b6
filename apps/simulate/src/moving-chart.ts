/**
 * A chart that draws itself over and over: an SVG with CSS animations and no script, so that it moves in an `<img>` of a
 * README. Without animations, and for readers who prefer less motion, the finished chart is shown.
 */

/** One way of sharing a limit, with one value per second. */
interface Lane {
  readonly name: string;
  /** Calls accepted in the last minute, as a fraction of the limit. */
  readonly accepted: readonly number[];
  /** Number of refused calls. */
  readonly refused: readonly number[];
}

interface MovingChart {
  readonly title: string;
  readonly lanes: readonly Lane[];
  /** The fraction of the limit that the provider allows, one value per second. */
  readonly allowed: readonly number[];
  /** Calls per second at the limit: the scale of refused calls. */
  readonly limitPerSecond: number;
  readonly events: readonly { readonly second: number; readonly text: string }[];
}

const WIDTH = 720;
const LEFT = 56;
const RIGHT = 20;
const PLOT = WIDTH - LEFT - RIGHT;
const HEAD = 64;
const LANE = 150;
/** Height of the plot of a lane, and of 100 % in it. */
const PLOT_HEIGHT = 104;
const FULL = 88;
/** Duration of one pass in seconds, and the part of it in which the chart is drawn; then it stands still. */
const PASS_S = 15;
const DRAWN = 0.82;
/** Number of steps of a counter. */
const STEPS = 40;
/** Refused calls are summed over this number of seconds. */
const BAR_S = 3;

const STYLE = `
.paper { fill: #fff } .edge { fill: none; stroke: #d9d5ca } .ink { fill: #1f1d17 } .soft { fill: #5f5a4d } .bad { fill: #a8231c }
.grid { stroke: #e6e2d8 } .limit { fill: none; stroke: #1f1d17; stroke-width: 1.5; stroke-dasharray: 4 3 }
.area { fill: #f2b544; stroke: #b37400; stroke-width: 1.5 } .bars { stroke: #c5362c; stroke-width: 4 } .head { stroke: #8a8474 }
@media (prefers-color-scheme: dark) {
  .paper { fill: #1b1a16 } .edge { stroke: #3a3830 } .ink { fill: #f3efe4 } .soft { fill: #b5ae9c } .bad { fill: #ff8d80 }
  .grid { stroke: #33312a } .limit { stroke: #f3efe4 } .area { fill: #8a6310; stroke: #ffb938 } .bars { stroke: #ff6a5c }
}
.curtain, .head { transform: translateX(${PLOT}px) }
.count { visibility: hidden } .total { visibility: visible }
@media (prefers-reduced-motion: no-preference) {
  .curtain, .head { animation: draw ${PASS_S}s linear infinite }
  .count { animation: count ${PASS_S}s step-end infinite } .total { animation: total ${PASS_S}s step-end infinite }
}
@keyframes draw { from { transform: translateX(0) } ${percent(DRAWN)}, to { transform: translateX(${PLOT}px) } }
@keyframes count { from { visibility: visible } ${percent(DRAWN / STEPS)}, to { visibility: hidden } }
@keyframes total { from { visibility: hidden } ${percent(DRAWN)}, to { visibility: visible } }`;

/** Returns the chart as SVG. */
export function movingChart({ title, lanes, allowed, limitPerSecond, events }: MovingChart): string {
  const height = HEAD + lanes.length * LANE + 24;
  const seconds = allowed.length;
  const x = (second: number) => round(LEFT + (PLOT * second) / seconds);
  const baseOf = (lane: number) => HEAD + lane * LANE + LANE - 16;
  const y = (lane: number, value: number) => round(baseOf(lane) - Math.min(FULL * value, PLOT_HEIGHT));
  const line = (lane: number, values: readonly number[]) =>
    values.map((value, i) => `${x(i + 1)},${y(lane, value)}`).join(" ");

  const drawn = lanes.map(({ accepted, refused }, i) => {
    const bars = sums(refused).map((sum, bar) => {
      const at = x((bar + 0.5) * BAR_S);
      return sum === 0 ? "" : `M${at} ${baseOf(i)}V${y(i, sum / BAR_S / limitPerSecond)}`;
    });
    return `<polygon class="area" points="${LEFT},${baseOf(i)} ${line(i, accepted)} ${x(seconds)},${baseOf(i)}"/>
<path class="bars" d="${bars.join("")}"/>`;
  });
  const fixed = lanes.map(({ name, refused }, i) => {
    const top = baseOf(i) - PLOT_HEIGHT - 14;
    return `<path class="grid" d="M${LEFT} ${baseOf(i)}H${WIDTH - RIGHT}"/>
<polyline class="limit" points="${line(i, allowed)}"/>
<text class="ink" x="${LEFT + 2}" y="${top}" font-size="14" font-weight="600">${name}</text>
${counter(refused, top)}
<text class="soft" x="${LEFT - 8}" y="${y(i, 1) + 4}" text-anchor="end">limit</text>
<text class="soft" x="${LEFT - 8}" y="${baseOf(i) + 4}" text-anchor="end">0</text>`;
  });
  const minutes = Array.from({ length: Math.floor(seconds / 60) + 1 }, (_, minute) => minute);
  const total = lanes.map(({ name, refused }) => `${name}: ${sum(refused)} calls refused`).join(", ");
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${title}. ${total}." font-family="system-ui, -apple-system, 'Segoe UI', sans-serif" font-size="12">
<style>${STYLE}
</style>
<rect class="paper" width="${WIDTH}" height="${height}" rx="8"/>
${drawn.join("\n")}
<rect class="curtain paper" x="${LEFT}" y="${HEAD}" width="${PLOT + RIGHT}" height="${baseOf(lanes.length - 1) - HEAD + 2}"/>
<path class="head" d="M${LEFT} ${HEAD + 12}V${baseOf(lanes.length - 1)}"/>
<text class="ink" x="${LEFT}" y="26" font-size="15" font-weight="600">${title}</text>
${events.map(({ second, text }) => `<text class="soft" x="${x(second)}" y="48" text-anchor="middle">▾ ${text}</text>`).join("\n")}
${fixed.join("\n")}
${minutes.map((minute) => `<text class="soft" x="${x(minute * 60)}" y="${height - 14}" text-anchor="${minute * 60 === seconds ? "end" : "middle"}">${minute} min</text>`).join("\n")}
<rect class="edge" x="0.5" y="0.5" width="${WIDTH - 1}" height="${height - 1}" rx="8"/>
</svg>
`;
}

/** A number that counts the refused calls while the chart is drawn. Each step is a text of its own, visible in turn. */
function counter(refused: readonly number[], y: number): string {
  const at = (style: string, calls: number, delay = "") =>
    `<text class="bad ${style}" x="${WIDTH - RIGHT}" y="${y}" font-size="14" font-weight="600" text-anchor="end"${delay}>${words(calls)}</text>`;
  const steps = Array.from({ length: STEPS }, (_, i) => {
    const delayS = round((i / STEPS) * DRAWN * PASS_S);
    return at(
      "count",
      sum(refused.slice(0, Math.floor((i * refused.length) / STEPS))),
      ` style="animation-delay:${delayS}s"`,
    );
  });
  return [...steps, at("total", sum(refused))].join("\n");
}

function words(calls: number): string {
  return `${calls.toLocaleString("en")} ${calls === 1 ? "call" : "calls"} refused (429)`;
}

function sums(values: readonly number[]): number[] {
  return Array.from({ length: Math.ceil(values.length / BAR_S) }, (_, i) =>
    sum(values.slice(i * BAR_S, (i + 1) * BAR_S)),
  );
}

const sum = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0);

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

function percent(part: number): string {
  return `${round(part * 1_000) / 10}%`;
}
