import type { Lease } from "@hivepace/core";
import type { ManualClock } from "@hivepace/core/testing";
import type { Hive } from "../../src/index.ts";

/** The outcome of a call at the provider. */
export type Outcome = "ok" | "overload" | "failure" | "quota" | "limited";

export interface TrafficOptions {
  readonly clock: ManualClock;
  readonly hives: readonly Hive[];
  /** Calls per second of each hive. */
  readonly perSecond: number;
  readonly route?: readonly (string | readonly string[])[];
  readonly model?: string;
  readonly latencyMs?: number;
  /** The time until the quota is restored, as the provider reports it. */
  readonly toldMs?: number;
  readonly provider: (now: number, endpoint: string, model: string | undefined) => Outcome;
}

/** One call that reached the provider. */
export interface Sent {
  readonly at: number;
  readonly hive: number;
  readonly endpoint: string;
  readonly outcome: Outcome;
}

/** Open-loop calls of several hives in virtual time: a call that is granted is sent once, and its lease reports its end. */
export class Traffic {
  readonly #options: TrafficOptions;
  readonly sent: Sent[] = [];
  rejected = 0;
  #isOver = false;

  constructor(options: TrafficOptions) {
    this.#options = options;
    for (const [i, hive] of options.hives.entries()) this.#start(hive, i);
  }

  stop(): void {
    this.#isOver = true;
  }

  /** Calls sent between two times, to an endpoint if given. */
  between(from: number, to: number, endpoint?: string): Sent[] {
    return this.sent.filter(
      (one) => one.at >= from && one.at < to && (endpoint === undefined || one.endpoint === endpoint),
    );
  }

  #start(hive: Hive, index: number): void {
    const { clock, perSecond } = this.#options;
    const everyMs = 1_000 / perSecond;
    const tick = (): void => {
      if (this.#isOver) return;
      void this.#call(hive, index);
      clock.after(everyMs, tick);
    };
    clock.after((everyMs * index) / this.#options.hives.length, tick);
  }

  async #call(hive: Hive, index: number): Promise<void> {
    const { clock, route = ["eu"], model, latencyMs = 20, provider } = this.#options;
    let lease: Lease;
    try {
      lease = await hive.acquire({ route, model, tokens: 1, timeoutMs: 300_000 });
    } catch {
      this.rejected++;
      return;
    }
    const { endpoint } = lease;
    const at = clock.now();
    const outcome = provider(at, endpoint, model);
    this.sent.push({ at, hive: index, endpoint, outcome });
    clock.after(latencyMs, () => this.#end(lease, outcome));
  }

  #end(lease: Lease, outcome: Outcome): void {
    switch (outcome) {
      case "ok":
        lease.done();
        break;
      case "overload":
        lease.refused({ reason: "529", kind: "overload" });
        break;
      case "quota":
        lease.refused({ reason: "quota gone", kind: "quota", retryAfterMs: this.#options.toldMs });
        break;
      case "limited":
        lease.refused({ reason: "429" });
        break;
      case "failure":
        lease.failed({ reason: "500" });
    }
  }
}
