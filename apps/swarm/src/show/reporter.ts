import type { Progress } from "../run/run-event.ts";
import type { Score } from "../run/score.ts";
import type { Screen } from "../world.ts";
import { LiveReporter } from "./live-reporter.ts";
import { percent } from "./text.ts";

/** Prints events as permanent lines, and the current state. */
export interface Reporter {
  line(text: string): void;
  /** `scores`: the current table. */
  progress(progress: Progress, atMs: number, durationMs: number, scores: readonly Score[]): void;
  /** Restores the terminal; printed lines remain. May be called twice. */
  end(): void;
}

/** Returns a live block for a terminal, and plain lines for anything else. */
export function reporterFor(screen: Screen): Reporter {
  return screen.isTTY ? new LiveReporter(screen) : new PlainReporter(screen);
}

const EVERY_MS = 60_000;

/** One line per minute of the demo, for logs. */
export class PlainReporter implements Reporter {
  readonly #screen: Screen;
  #nextMs = EVERY_MS;

  constructor(screen: Screen) {
    this.#screen = screen;
  }

  line(text: string): void {
    this.#screen.write(`${text}\n`);
  }

  progress({ used, level, sent, rejected429, agents }: Progress, atMs: number): void {
    // A new run starts at 0.
    if (atMs < this.#nextMs - EVERY_MS) this.#nextMs = EVERY_MS;
    if (atMs < this.#nextMs) return;
    this.#nextMs += EVERY_MS;
    const waiting = agents.reduce((sum, agent) => sum + agent.waiting, 0);
    const parts = [
      `${percent(used)} of the limit used`,
      `level ${percent(level)}`,
      `${sent} sent`,
      `${rejected429} × 429`,
      `${waiting} waiting`,
    ];
    this.line(`${timeOf(atMs)}  ${parts.join(", ")}`);
  }

  end(): void {}
}

/** The time of a line, padded to a column. */
export function timeOf(ms: number): string {
  return clockOf(ms).padStart(6);
}

/** Minutes and seconds of the demo: 1:05. */
export function clockOf(ms: number): string {
  const seconds = Math.floor(ms / 1_000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}
