import type { Progress } from "../run/run-event.ts";
import type { Screen } from "../world.ts";
import { LiveReporter } from "./live-reporter.ts";
import { percent } from "./text.ts";

/** Tells the story: lines that stay, and how it is now. */
export interface Reporter {
  line(text: string): void;
  progress(progress: Progress, atMs: number, durationMs: number): void;
  /** The screen is as it was, but for the lines. May be called twice. */
  end(): void;
}

/** A live block at a terminal; plain lines anywhere else. */
export function reporterFor(screen: Screen): Reporter {
  return screen.isTTY ? new LiveReporter(screen) : new PlainReporter(screen);
}

const EVERY_MS = 5_000;

/** One line now and then, for logs. */
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
    // Another run begins at 0 again.
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
    this.line(`${at(atMs)}  ${parts.join(", ")}`);
  }

  end(): void {}
}

/** The time of a line, in a column. */
export function at(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`.padStart(7);
}
