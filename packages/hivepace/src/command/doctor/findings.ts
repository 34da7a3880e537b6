import type { Paint } from "../text/paint.ts";
import type { Screen } from "../world.ts";

export interface Finding {
  readonly check: string;
  /** "note": worth knowing, but not a problem. */
  readonly state: "ok" | "note" | "wrong";
  readonly text: string;
  /** Suggested fix. */
  readonly advice: string | undefined;
}

const MARKS = { ok: ["✓", "green"], note: ["!", "yellow"], wrong: ["✗", "red"] } as const;

/** Collects findings, and prints each one immediately. */
export class Findings {
  readonly all: Finding[] = [];
  readonly #screen: Screen | undefined;
  readonly #paint: Paint;

  /** Without a screen, findings are only collected. */
  constructor(screen: Screen | undefined, paint: Paint) {
    this.#screen = screen;
    this.#paint = paint;
  }

  get wrong(): number {
    return this.all.filter(({ state }) => state === "wrong").length;
  }

  ok(check: string, text: string): void {
    this.#add({ check, state: "ok", text, advice: undefined });
  }

  note(check: string, text: string, advice?: string): void {
    this.#add({ check, state: "note", text, advice });
  }

  bad(check: string, text: string, advice: string): void {
    this.#add({ check, state: "wrong", text, advice });
  }

  #add(finding: Finding): void {
    this.all.push(finding);
    const [mark, color] = MARKS[finding.state];
    this.#screen?.write(`${this.#paint(color, mark)} ${finding.check.padEnd(12)} ${finding.text}\n`);
    if (finding.advice !== undefined) this.#screen?.write(`${" ".repeat(15)}→ ${finding.advice}\n`);
  }
}
