import { setTimeout as pause } from "node:timers/promises";
import type { ProviderFacts } from "@hivepace/dashboard";
import { type FakeProvider, startProvider } from "@hivepace/provider";
import type { Family } from "../metrics/family.ts";
import type { Plan } from "../plan.ts";
import type { Deed, ScenarioName, Step } from "../scenarios.ts";
import { sentenceOf } from "../show/story.ts";
import { type BusSwitch, wireSwitch } from "./bus-switch.ts";
import { Use } from "./figures.ts";
import { type Outcome, outcomeOf } from "./outcome.ts";
import type { RunEvent, Tell } from "./run-event.ts";
import { type Ground, Swarm } from "./swarm.ts";

export interface RunSetting extends Omit<Ground, "providerUrl"> {
  readonly scenario: ScenarioName;
  /** For people and figures. */
  readonly busName: string;
  /** How the bus is taken away; without, the agents' wires to it are cut. */
  readonly busSwitch?: BusSwitch | undefined;
  readonly tell: Tell;
}

const TICK_MS = 100;
const DEMAND_MS = 1_000;
const START_MS = 60_000;
/** An answer takes this long to begin, and up to so much more. */
const LATENCY_MS = { least: 40, more: 120 } as const;
const LOG_SIZE = 1_000;
/** How much longer than planned it may take until the swarm is as it was: a whole recovery, and some time for a slow machine. */
const OVERTIME = { windows: 3, ms: 8_000 } as const;

/** One run: a provider, a swarm, and what the scenario does to them. Whoever watches may do the same. */
export class SwarmRun {
  readonly #plan: Plan;
  readonly #setting: RunSetting;
  readonly #provider: FakeProvider;
  readonly #swarm: Swarm;
  readonly #busSwitch: BusSwitch;
  readonly #use: Use;
  readonly #limits: { rpm: number; tpm: number };
  #startedAt = performance.now();
  #apartSince: number | undefined;

  private constructor(plan: Plan, setting: RunSetting, provider: FakeProvider) {
    this.#plan = plan;
    this.#setting = setting;
    this.#provider = provider;
    this.#limits = { rpm: plan.rpm, tpm: plan.tpm };
    this.#use = new Use(plan.windowMs);
    const on = {
      // Agents that are not together cut and recover all the time, each for itself: that is no story.
      news: (news: RunEvent) => plan.scenario.pacing === "hive" && this.#tell(news),
      crashed: (agentId: string) => this.#tell({ type: "crashed", agentId, isPlanned: false }),
    };
    this.#swarm = new Swarm(plan, { ...setting, providerUrl: provider.url }, on, () => performance.now());
    this.#busSwitch = setting.busSwitch ?? wireSwitch((isCutOff) => this.#swarm.setCutOff(isCutOff));
  }

  static async open(plan: Plan, setting: RunSetting): Promise<SwarmRun> {
    const { rpm, tpm, windowMs } = plan;
    const latencyMs = () => LATENCY_MS.least + LATENCY_MS.more * Math.random();
    const outputTokens = plan.mostTokens;
    const provider = await startProvider({ rpm, tpm, windowMs, latencyMs, outputTokens, logSize: LOG_SIZE });
    return new SwarmRun(plan, setting, provider);
  }

  get agents(): number {
    return this.#swarm.running.length;
  }

  get facts(): ProviderFacts {
    const { windowMs, rpm, tpm, usedRequests, usedTokens } = this.#provider.state();
    const { accepted, rejected429 } = this.#provider.tally;
    return { limitRpm: rpm, limitTpm: tpm, windowMs, usedRequests, usedTokens, accepted, rejected429 };
  }

  /** What each agent has measured. */
  measure(): Promise<(readonly Family[])[]> {
    return this.#swarm.measure();
  }

  /** To its end, or until the signal says stop. */
  async play(signal: AbortSignal): Promise<Outcome> {
    const { durationMs, windowMs, scenario } = this.#plan;
    await this.#start(signal);
    const steps = scenario.steps.map((step) => ({ deed: step.deed, atMs: this.#timeOf(step) }));
    let demandAt = 0;
    for (let at = 0; at < durationMs; at = this.#atMs) {
      for (let next = steps[0]; next && next.atMs <= at; next = steps[0]) {
        steps.shift();
        // What goes wrong is told.
        this.do(next.deed).catch(() => {});
      }
      if (at >= demandAt) {
        this.#swarm.setDemand(at);
        demandAt += DEMAND_MS;
      }
      if (at >= windowMs) this.#use.look(at, this.#limits, this.#provider.tally);
      this.#look();
      await pause(TICK_MS, undefined, { signal });
    }
    if (scenario.pacing === "hive") await this.#overtime(signal);
    const { busName: bus, scenario: name } = this.#setting;
    const { utilization } = this.#use;
    return outcomeOf(this.#plan, this.#swarm, this.#provider, { bus, scenario: name, utilization });
  }

  /** What a step of the scenario does, or somebody who watches. Says what was done; rejects when it could not be done. */
  async do(deed: Deed): Promise<string> {
    try {
      const event = await this.#do(deed);
      this.#tell(event);
      return sentenceOf(event) ?? "";
    } catch (error) {
      this.#tell({ type: "trouble", sentence: `that did not work: ${(error as Error).message}` });
      throw error;
    }
  }

  async close(withinMs?: number): Promise<void> {
    await this.#swarm.stop(withinMs);
    await this.#provider.close();
  }

  get #atMs(): number {
    return performance.now() - this.#startedAt;
  }

  async #start(signal: AbortSignal): Promise<void> {
    const { agents, scenario, isSharing } = this.#plan;
    this.#swarm.join(agents, 0, true);
    const meet = scenario.pacing === "hive" && isSharing;
    while (!(this.#swarm.areAllStarted && (!meet || this.#swarm.watch.haveMet))) {
      if (this.#swarm.failure !== undefined) throw new Error(this.#swarm.failure);
      if (this.#atMs > START_MS) throw new Error(`the agents did not find each other within ${START_MS / 1_000} s`);
      await pause(TICK_MS / 2, undefined, { signal });
    }
    const tookMs = this.#atMs;
    this.#startedAt = performance.now();
    this.#tell({ type: "started", agents, tookMs });
  }

  async #do(deed: Deed): Promise<RunEvent> {
    switch (deed.type) {
      case "limit": {
        this.#limits.rpm = Math.max(1, Math.round(this.#plan.rpm * deed.part));
        this.#limits.tpm = Math.max(1, Math.round(this.#plan.tpm * deed.part));
        this.#provider.setLimits({ ...this.#limits });
        return { type: "limit", part: deed.part, ...this.#limits };
      }
      case "crash": {
        const agentId = await this.#swarm.crash();
        if (agentId === undefined) throw new Error("only one agent is left");
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

  /** A swarm that is reduced, or apart, gets the time that it takes to be as it was. */
  async #overtime(signal: AbortSignal): Promise<void> {
    const end = this.#atMs + OVERTIME.windows * this.#plan.windowMs + OVERTIME.ms;
    const isAsItWas = () => !this.#swarm.watch.isReduced && this.#swarm.watch.isWhole;
    if (!isAsItWas()) this.#tell({ type: "overtime" });
    while (!isAsItWas() && this.#atMs < end) {
      await pause(TICK_MS, undefined, { signal });
      this.#look();
    }
  }

  #look(): void {
    const { watch } = this.#swarm;
    watch.look(performance.now());
    if (watch.isWhole && this.#apartSince !== undefined) {
      this.#tell({ type: "together", agents: this.agents, afterMs: performance.now() - this.#apartSince });
      this.#apartSince = undefined;
    } else if (!watch.isWhole && this.#plan.scenario.pacing === "hive") this.#apartSince ??= performance.now();
    const { usedRequests, usedTokens } = this.#provider.state();
    const { sent, accepted, rejected429 } = this.#provider.tally;
    const agents = [...watch.agents.values()].map(({ agentId, state }) => ({
      agentId,
      mode: state?.mode,
      share: state?.share ?? 0,
      used: state?.used ?? 0,
      waiting: state?.waiting ?? 0,
    }));
    this.#tell({
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

  #tell(event: RunEvent): void {
    this.#setting.tell(event, this.#atMs);
  }
}
