import type { ProviderFacts } from "@hivepace/dashboard";
import type { Family } from "../metrics/family.ts";
import type { Plan } from "../plan.ts";
import type { Pacing } from "../rows.ts";
import type { Deed } from "../scenarios.ts";
import type { Outcome } from "./outcome.ts";
import type { Score } from "./score.ts";
import { type RunSetting, SwarmRun } from "./swarm-run.ts";

/**
 * All rows of the demo at once: each has its own provider and agents, the same load, and the same events at the same
 * time. Hivepace is the first row, and the only one whose events are printed.
 */
export class Race {
  readonly #main: SwarmRun;
  readonly #others: readonly SwarmRun[];

  private constructor(main: SwarmRun, others: readonly SwarmRun[]) {
    [this.#main, this.#others] = [main, others];
  }

  /** `others`: the rows beside Hivepace. The agents of each of them share one thread. */
  static async open(plan: Plan, setting: RunSetting, others: readonly Pacing[]): Promise<Race> {
    const opened: SwarmRun[] = [];
    try {
      opened.push(await SwarmRun.open(plan, setting));
      for (const pacing of others) {
        const { busSwitch: _, ...rest } = setting;
        const own = { hosts: "one thread", isMeasured: false, emit: () => {} } as const;
        opened.push(await SwarmRun.open({ ...plan, pacing }, { ...rest, ...own }));
      }
      const [main, ...beside] = opened as [SwarmRun, ...SwarmRun[]];
      return new Race(main, beside);
    } catch (error) {
      await Promise.all(opened.map((run) => run.close(0)));
      throw error;
    }
  }

  get agents(): number {
    return this.#main.agents;
  }

  get facts(): ProviderFacts {
    return this.#main.facts;
  }

  /** The current score of every row. */
  get scores(): readonly Score[] {
    return this.#all.map((run) => run.score);
  }

  measure(): Promise<(readonly Family[])[]> {
    return this.#main.measure();
  }

  /** Resolves with the scores at the end of the run. All rows start together, once all of them are ready. */
  async play(signal: AbortSignal): Promise<readonly Score[]> {
    await Promise.all(this.#all.map((run) => run.ready(signal)));
    return Promise.all(this.#all.map((run) => run.play(signal)));
  }

  settle(signal: AbortSignal): Promise<Outcome> {
    return this.#main.settle(signal);
  }

  /** Applies the deed to all rows and returns the sentence for the Hivepace row. */
  async do(deed: Deed): Promise<string> {
    for (const run of this.#others) run.do(deed).catch(() => {});
    return this.#main.do(deed);
  }

  async close(withinMs?: number): Promise<void> {
    await Promise.all(this.#all.map((run) => run.close(withinMs)));
  }

  get #all(): readonly SwarmRun[] {
    return [this.#main, ...this.#others];
  }
}
