import type { Progress } from "../run/run-event.ts";
import type { Score } from "../run/score.ts";
import type { Screen } from "../world.ts";
import { clockOf, timeOf } from "./reporter.ts";
import { tableOf } from "./table.ts";
import { bar, percent } from "./text.ts";

const REDRAW_MS = 200;
const MOST_AGENTS = 16;
const DEFAULT_COLUMNS = 80;
const BAR_WIDTH = 30;
const HIDE_CURSOR = "\x1b[?25l";
const SHOW_CURSOR = "\x1b[?25h";

/** A block at the bottom of a terminal that is redrawn in place; lines scroll above it. */
export class LiveReporter {
  readonly #screen: Screen;
  readonly #now: () => number;
  #block: readonly string[] = [];
  #drawnAt = -Infinity;
  #isHidden = false;

  constructor(screen: Screen, now: () => number = () => performance.now()) {
    this.#screen = screen;
    this.#now = now;
  }

  line(text: string): void {
    const block = this.#block;
    this.#draw([]);
    this.#screen.write(`${text}\n`);
    this.#draw(block);
  }

  progress(progress: Progress, atMs: number, durationMs: number, scores: readonly Score[]): void {
    if (this.#now() - this.#drawnAt < REDRAW_MS) return;
    this.#drawnAt = this.#now();
    const columns = this.#screen.columns ?? DEFAULT_COLUMNS;
    // Lines are truncated, because a wrapped line would shift the next redraw.
    const block = scores.length > 1 ? raceOf(progress, atMs, durationMs, scores) : blockOf(progress, atMs, durationMs);
    this.#draw(block.map((line) => [...line].slice(0, columns - 1).join("")));
  }

  end(): void {
    this.#draw([]);
    if (this.#isHidden) this.#screen.write(SHOW_CURSOR);
    this.#isHidden = false;
  }

  #draw(block: readonly string[]): void {
    const back = this.#block.length > 0 ? `\x1b[${this.#block.length}A\x1b[0J` : "";
    const hide = block.length > 0 && !this.#isHidden ? HIDE_CURSOR : "";
    this.#isHidden ||= hide !== "";
    const text = block.map((line) => `${line}\n`).join("");
    if (back !== "" || text !== "") this.#screen.write(hide + back + text);
    this.#block = block;
  }
}

/** The block of a comparison: the time, the current limit, and the table. */
function raceOf(
  { allowed, used, level }: Progress,
  atMs: number,
  durationMs: number,
  scores: readonly Score[],
): string[] {
  const time = `${timeOf(atMs)} of ${clockOf(durationMs)}`;
  return [
    "",
    `${time}  ${bar(used, BAR_WIDTH, allowed)} Hivepace uses ${percent(used)}, level ${percent(level)}`,
    "",
    ...tableOf(scores),
  ];
}

function blockOf(progress: Progress, atMs: number, durationMs: number): string[] {
  const { used, allowed, level, sent, accepted, rejected429, agents } = progress;
  const time = `${clockOf(atMs)} of ${clockOf(durationMs)}`;
  const shown = agents.slice(0, MOST_AGENTS);
  const widest = Math.max(0, ...shown.map(({ agentId }) => agentId.length));
  // Scales the agents' bars to the largest usage or share.
  const most = Math.max(1e-9, ...shown.map((agent) => Math.max(agent.used, agent.share)));
  const rows = shown.map(({ agentId, used: own, waiting, mode }) => {
    const part = `${percent(own).padStart(5)} of the limit`;
    const state = mode === "member" || mode === undefined ? "" : `  ${mode}`;
    return `  ${agentId.padEnd(widest)}  ${bar(own / most, BAR_WIDTH)} ${part}, ${String(waiting).padStart(3)} waiting${state}`;
  });
  const rest = agents.length > shown.length ? [`  and ${agents.length - shown.length} more`] : [];
  return [
    "",
    `  ${"provider".padEnd(widest)}  ${bar(used, BAR_WIDTH, allowed)} ${percent(used).padStart(5)} of the limit used, level ${percent(level)}`,
    ...rows,
    ...rest,
    `  ${time}   ${sent} sent, ${accepted} accepted, ${rejected429} × 429`,
  ];
}
