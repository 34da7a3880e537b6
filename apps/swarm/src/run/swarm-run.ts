import { setTimeout as pause } from "node:timers/promises";
import type { Clock } from "@hivepace/core";
import type { ProviderFacts } from "@hivepace/dashboard";
import { type FakeProvider, startProvider } from "@hivepace/provider";
import { LATENCY_MS } from "../demand.ts";
import { LapseClock } from "../lapse-clock.ts";
import type { Family } from "../metrics/family.ts";
import type { Plan } from "../plan.ts";
import type { Deed, ScenarioName, Step } from "../scenarios.ts";
import { sentenceOf } from "../show/story.ts";
import { type BusSwitch, wireSwitch } from "./bus-switch.ts";
import { Use } from "./figures.ts";
import { type Outcome, outcomeOf } from "./outcome.ts";
import type { EmitRunEvent, RunEvent } from "./run-event.ts";
import { type Score, scoreOf } from "./score.ts";
import { type Ground, Swarm } from "./swarm.ts";

export interface RunSetting extends Omit<Ground, "providerUrl"> {
  readonly scenario: ScenarioName;
  /** The name of the bus for output and figures. */
  readonly busName: string;
  /** Takes the bus away. Default: cuts the agents' connections to it. */
  readonly busSwitch?: BusSwitch | undefined;
  readonly emit: EmitRunEvent;
}

const TICK_MS = 100;
const DEMAND_MS = 10_000;
const START_MS = 60_000;
const LONG_APART_MS = 15_000;
const LOG_SIZE = 1_000;
/** The longest time that a swarm gets to recover after the run: a whole recovery, and a margin for a slow machine. */
const OVERTIME = { windows: 5, realMs: 8_000 } as const;

/** One row of the demo: a provider, a swarm, and the scenario. The controls of the page apply the same deeds. */
export class SwarmRun {
  readonly #plan: Plan;
  readonly #setting: RunSetting;
  readonly #provider: FakeProvider;
  readonly #swarm: Swarm;
  readonly #busSwitch: BusSwitch;
  readonly #use: Use;
  readonly #clock: Clock;
  readonly #limits: { rpm: number; tpm: number };
  #startedAt: number;
  #tookMs = 0;
  #apartSince: number | undefined;
  /** Whether a deed has changed the membership. */
  #isParted = false;

  private constructor(plan: Plan, setting: RunSetting, provider: FakeProvider, clock: Clock) {
    [this.#plan, this.#clock, this.#startedAt] = [plan, clock, clock.now()];
    this.#setting = setting;
    this.#provider = provider;
    this.#limits = { rpm: plan.rpm, tpm: plan.tpm };
    this.#use = new Use(plan.windowMs);
    const on = {
      // Agents without a common limit cut and recover all the time, independently: their changes are not reported.
      news: (news: RunEvent) => plan.pacing === "hive" && this.#emit(news),
      crashed: (agentId: string) => this.#emit({ type: "crashed", agentId, isPlanned: false }),
    };
    this.#swarm = new Swarm(plan, { ...setting, providerUrl: provider.url }, on, () => clock.now());
    this.#busSwitch = setting.busSwitch ?? wireSwitch((isCutOff) => this.#swarm.setCutOff(isCutOff));
  }

  static async open(plan: Plan, setting: RunSetting): Promise<SwarmRun> {
    const { rpm, tpm, windowMs } = plan;
    const clock = new LapseClock(plan.speed, setting.epochMs);
    const latencyMs = () => LATENCY_MS.least + (LATENCY_MS.most - LATENCY_MS.least) * Math.random();
    const provider = await startProvider({
      rpm,
      tpm,
      windowMs,
      latencyMs,
      outputTokens: plan.mostTokens,
      logSize: LOG_SIZE,
      countsRefused: true,
      clock,
    });
    return new SwarmRun(plan, setting, provider, clock);
  }

  get agents(): number {
    return this.#swarm.running.length;
  }

  get facts(): ProviderFacts {
    const { windowMs, rpm, tpm, usedRequests, usedTokens } = this.#provider.state();
    const { accepted, rejected429 } = this.#provider.tally;
    return { limitRpm: rpm, limitTpm: tpm, windowMs, usedRequests, usedTokens, accepted, rejected429 };
  }

  /** Collects the metrics of each agent. */
  measure(): Promise<(readonly Family[])[]> {
    return this.#swarm.measure();
  }

  get score(): Score {
    return scoreOf(this.#plan.pacing, this.#swarm, this.#provider.tally, this.#use.utilization);
  }

  /** Resolves when all agents run, and know each other if the row shares a limit. */
  async ready(signal: AbortSignal): Promise<void> {
    const { agents, pacing, isSharing } = this.#plan;
    this.#swarm.join(agents, 0);
    const startedAt = performance.now();
    const meet = pacing === "hive" && isSharing;
    while (!(this.#swarm.areAllStarted && (!meet || this.#swarm.watch.haveMet))) {
      if (this.#swarm.failure !== undefined) throw new Error(this.#swarm.failure);
      if (performance.now() - startedAt > START_MS)
        throw new Error(`the agents did not discover each other within ${START_MS / 1_000} s`);
      await pause(TICK_MS / 2, undefined, { signal });
    }
    this.#tookMs = performance.now() - startedAt;
  }

  /** Plays the scenario to its end, or until the signal aborts. */
  async play(signal: AbortSignal): Promise<Score> {
    const { durationMs, windowMs, scenario, agents } = this.#plan;
    this.#startedAt = this.#clock.now();
    this.#emit({ type: "started", agents, tookMs: this.#tookMs });
    const steps = scenario.steps.map((step) => ({ deed: step.deed, atMs: this.#timeOf(step) }));
    let demandAt = 0;
    for (let at = 0; at < durationMs; at = this.#atMs) {
      for (let next = steps[0]; next && next.atMs <= at; next = steps[0]) {
        steps.shift();
        // Failures are reported as events.
        this.do(next.deed).catch(() => {});
      }
      if (at >= demandAt) {
        this.#swarm.setDemand(at);
        demandAt += DEMAND_MS;
      }
      if (at >= windowMs) this.#use.sample(at, this.#limits, this.#provider.tally);
      this.#evaluate();
      await pause(TICK_MS, undefined, { signal });
    }
    return this.score;
  }

  /** Gives a reduced or parted swarm time to recover, and returns the outcome of the run. */
  async settle(signal: AbortSignal): Promise<Outcome> {
    if (this.#plan.pacing === "hive") await this.#overtime(signal);
    const { busName: bus, scenario } = this.#setting;
    const { utilization } = this.#use;
    return outcomeOf(this.#plan, this.#swarm, this.#provider, { bus, scenario, utilization });
  }

  /**
   * Applies a step of the scenario or a button of the page. Returns a sentence about the change; rejects when it
   * failed.
   */
  async do(deed: Deed): Promise<string> {
    try {
      const event = await this.#do(deed);
      this.#emit(event);
      return sentenceOf(event) ?? "";
    } catch (error) {
      this.#emit({ type: "trouble", sentence: `this failed: ${(error as Error).message}` });
      throw error;
    }
  }

  async close(withinMs?: number): Promise<void> {
    await this.#swarm.stop(withinMs);
    await this.#provider.close();
  }

  get #atMs(): number {
    return this.#clock.now() - this.#startedAt;
  }

  async #do(deed: Deed): Promise<RunEvent> {
    if (deed.type !== "limit") this.#isParted = true;
    switch (deed.type) {
      case "limit": {
        this.#limits.rpm = Math.max(1, Math.round(this.#plan.rpm * deed.part));
        this.#limits.tpm = Math.max(1, Math.round(this.#plan.tpm * deed.part));
        this.#provider.setLimits({ ...this.#limits });
        return { type: "limit", part: deed.part, ...this.#limits };
      }
      case "crash": {
        const agentId = await this.#swarm.crash();
        if (agentId === undefined) throw new Error("the last agent cannot be killed");
        return { type: "crashed", agentId, isPlanned: true };
      }
      case "join":
        return { type: "joined", agentIds: this.#swarm.join(deed.agents, this.#atMs) };
      case "bus": {
        const { away, back } = this.#busSwitch;
        await this.#busSwitch.set(deed.isThere);
        return { type: "bus", sentence: deed.isThere ? back : away };
      }
    }
  }

  /** Waits until the swarm has its whole limit and membership again, at most `OVERTIME`. */
  async #overtime(signal: AbortSignal): Promise<void> {
    const end = this.#atMs + OVERTIME.windows * this.#plan.windowMs + OVERTIME.realMs * this.#plan.speed;
    const isAsItWas = () => !this.#swarm.watch.isReduced && this.#swarm.watch.isWhole;
    if (!isAsItWas()) this.#emit({ type: "overtime" });
    while (!isAsItWas() && this.#atMs < end) {
      await pause(TICK_MS, undefined, { signal });
      this.#evaluate();
    }
  }

  #evaluate(): void {
    const { watch } = this.#swarm;
    watch.evaluate(this.#clock.now());
    if (watch.isWhole && this.#apartSince !== undefined) {
      const afterMs = this.#clock.now() - this.#apartSince;
      // A short pause of a busy machine parts the swarm for a moment, which is not reported.
      if (this.#isParted || afterMs > LONG_APART_MS) this.#emit({ type: "together", agents: this.agents, afterMs });
      this.#apartSince = undefined;
      this.#isParted = false;
    } else if (!watch.isWhole && this.#plan.pacing === "hive") this.#apartSince ??= this.#clock.now();
    const { usedRequests, usedTokens } = this.#provider.state();
    const { sent, accepted, rejected429 } = this.#provider.tally;
    const agents = [...watch.agents.values()].map(({ agentId, state }) => ({
      agentId,
      mode: state?.mode,
      share: state?.share ?? 0,
      used: state?.used ?? 0,
      waiting: state?.waiting ?? 0,
    }));
    this.#emit({
      type: "progress",
      level: watch.level,
      allowed: this.#limits.rpm / this.#plan.rpm,
      used: Math.max(usedRequests / this.#plan.rpm, usedTokens / this.#plan.tpm),
      sent,
      accepted,
      rejected429,
      agents,
    });
  }

  #timeOf({ at, windowsLater = 0 }: Step): number {
    return at * this.#plan.durationMs + windowsLater * this.#plan.windowMs;
  }

  #emit(event: RunEvent): void {
    this.#setting.emit(event, this.#atMs);
  }
}
