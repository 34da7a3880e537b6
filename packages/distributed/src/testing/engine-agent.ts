import {
  type Agent,
  type Amounts,
  addTo,
  type Effects,
  type Event,
  type Isolation,
  levelAt,
  type Message,
  minus,
  newAgent,
  type Quota,
  type StoreConfig,
  type StoreRequest,
  scaled,
  step,
  TUNING,
  type Tuning,
  takeFrom,
  zeros,
} from "../engine/index.ts";
import type { Answer, Call, Participant, World } from "./world.ts";

const QUOTA = "provider";
const RETRIES = 5;
const TRY_EVERY_MS = 100;
/** Time for which a denied try counts as demand, in milliseconds. */
const TRIED_MS = 2_000;

export interface EngineAgentOptions {
  readonly index: number;
  readonly id: string;
  readonly incarnation: number;
  readonly weight: number;
  readonly isolation: Isolation;
  readonly expectedAgents: number | undefined;
  /** Whether cuts and recoveries follow the measured usage, instead of fixed steps. */
  readonly isMeasured: boolean;
  readonly tryOnly: boolean;
  /** Converts the world's time to this agent's clock. */
  readonly clock: (worldMs: number) => number;
  readonly tuning: Partial<Tuning> | undefined;
  readonly store: StoreConfig | undefined;
  /** Called after every step of the engine. */
  readonly observe: (agent: Agent, event: Event, effects: Effects) => void;
}

/** An agent that runs the pure engine in the simulated world, with a queue of calls in front of the engine. */
export class EngineAgent implements Participant {
  readonly state: Agent;
  readonly #world: World;
  readonly #options: EngineAgentOptions;
  readonly #line: Call[] = [];
  readonly #waitingAmounts: number[];
  #wakeAt = Infinity;
  #isUp = true;
  #triedAt = -Infinity;
  #isPumping = false;
  /** Calls that are retried periodically without a place in the queue. */
  #trying = 0;

  constructor(world: World, options: EngineAgentOptions) {
    const { id, incarnation, weight, isolation, expectedAgents, tuning, store } = options;
    this.#world = world;
    this.#options = options;
    this.#waitingAmounts = zeros(world.limits.length);
    const config = {
      id,
      incarnation,
      weight,
      isolation,
      expectedAgents,
      hasBus: true,
      echoes: true,
      store,
      tuning: { ...TUNING, ...tuning },
    };
    this.state = newAgent(config, this.#now);
    step(this.state, { type: "configure", config: this.#quotaConfig(world.limits) }, this.#now);
  }

  get quota(): Quota {
    return this.state.quotas.get(QUOTA) as Quota;
  }

  get waiting(): number {
    return this.#line.length + this.#trying;
  }

  start(): void {
    this.#do({ type: "wake" });
  }

  arrive(call: Call): void {
    if (this.#options.tryOnly) {
      this.#trying++;
      this.#try(call);
      return;
    }
    this.#line.push(call);
    addTo(this.#waitingAmounts, call.expected);
    if (call.givesUpAt < Infinity) this.#world.after(call.givesUpAt - this.#world.now, () => this.#giveUp(call));
    if (this.#line.length === 1) this.#pump();
  }

  answered(call: Call, { outcome, retryAfterMs }: Answer): void {
    const sentAt = this.#options.clock(call.sentAt);
    if (outcome === "accepted") {
      const more = minus(call.actual, call.expected);
      if (more.some((amount) => amount !== 0)) this.#do({ type: "settle", quota: QUOTA, more, sentAt });
      return;
    }
    this.#do({ type: "settle", quota: QUOTA, more: scaled(call.expected, -1), sentAt });
    const isOverload = outcome === "overloaded";
    if (outcome !== "failed")
      this.#do({ type: "refused", quota: QUOTA, refused: { sentAt, retryAfterMs, reason: "429", isOverload } });
    if (++call.tries > RETRIES) return;
    this.#line.unshift(call);
    addTo(this.#waitingAmounts, call.expected);
    this.#pump();
  }

  receive(message: unknown): void {
    this.#do({ type: "receive", message: message as Message });
  }

  stop(graceful: boolean): void {
    if (graceful) this.#do({ type: "leave" });
    this.#isUp = false;
  }

  setLimits(limits: Amounts): void {
    step(this.state, { type: "configure", config: this.#quotaConfig(limits) }, this.#now);
    this.#do({ type: "wake" });
  }

  /** Freezes the agent: planned steps are overdue when the agent resumes. */
  pause(): void {
    this.#isUp = false;
  }

  resume(): void {
    this.#isUp = true;
    this.#wakeAt = Infinity;
    this.#do({ type: "wake" });
  }

  level(): number {
    return levelAt(this.quota.backoff.level, this.#now);
  }

  levelText(): string {
    const { epoch, pauseCount, levelAtCut } = this.quota.backoff.level;
    return `${epoch} ${pauseCount} ${levelAtCut}`;
  }

  limitsText(): string {
    return this.quota.limits.join(" ");
  }

  get #now(): number {
    return this.#options.clock(this.#world.now);
  }

  #quotaConfig(limits: Amounts) {
    const { windowMs } = this.#world;
    const rules = {
      reduceFactor: 0.5,
      recoveryFactor: 1.1,
      recoveryIntervalMs: 30_000,
      levelMax: 1,
      cooldownMs: windowMs,
      levelMin: 1 / Math.max(...limits),
      isMeasured: this.#options.isMeasured,
    };
    return { name: QUOTA, limits, windowMs, rules };
  }

  #do(event: Event): boolean {
    if (!this.#isUp) return false;
    const effects = step(this.state, event, this.#now);
    this.#options.observe(this.state, event, effects);
    if (effects.ask) this.#ask(effects.ask);
    if (effects.publish) this.#world.broadcast(this.#options.index, effects.publish);
    // A goodbye is sent twice, because the agent cannot retransmit it later.
    if (effects.publish?.bye) this.#world.broadcast(this.#options.index, effects.publish);
    this.#plan(effects.wakeAt);
    if (effects.retry.length > 0) this.#pump();
    return effects.taken;
  }

  #ask(ask: StoreRequest): void {
    const { sequence: seq } = ask;
    this.#world.allocate(this.#options.index, ask, (reply) =>
      this.#do(reply ? { type: "store-reply", seq, reply } : { type: "store-failure", seq }),
    );
  }

  #plan(wakeAt: number): void {
    if (wakeAt >= this.#wakeAt) return;
    this.#wakeAt = wakeAt;
    this.#world.after(wakeAt - this.#now, () => {
      if (this.#wakeAt !== wakeAt || !this.#isUp) return;
      this.#wakeAt = Infinity;
      this.#do({ type: "wake" });
    });
  }

  /** Sends every call that is admitted, and reports the remaining demand. */
  #pump(): void {
    if (this.#isPumping || this.#options.tryOnly) return;
    this.#isPumping = true;
    for (let call = this.#line[0]; call; call = this.#line[0]) {
      if (!this.#do({ type: "take", quota: QUOTA, cost: call.expected })) break;
      this.#line.shift();
      takeFrom(this.#waitingAmounts, call.expected);
      this.#world.send(call);
    }
    const next = this.#line[0]?.expected;
    this.#do({ type: "want", quota: QUOTA, next, all: [...this.#waitingAmounts] });
    this.#isPumping = false;
  }

  #giveUp(call: Call): void {
    const index = this.#line.indexOf(call);
    if (index < 0 || !this.#isUp) return;
    this.#line.splice(index, 1);
    takeFrom(this.#waitingAmounts, call.expected);
    if (index === 0) this.#pump();
  }

  #try(call: Call): void {
    const isOver = !this.#isUp || this.#world.now > call.givesUpAt;
    const isTaken = !isOver && this.#do({ type: "take", quota: QUOTA, cost: call.expected });
    if (isOver || isTaken) {
      this.#trying--;
      if (isTaken) this.#world.send(call);
      return;
    }
    const triedAt = this.#world.now;
    this.#triedAt = triedAt;
    this.#do({ type: "want", quota: QUOTA, next: call.expected, all: call.expected });
    this.#world.after(TRIED_MS, () => {
      if (this.#isUp && this.#triedAt === triedAt) this.#do({ type: "want", quota: QUOTA, next: undefined });
    });
    this.#world.after(TRY_EVERY_MS * (0.5 + this.#world.random()), () => this.#try(call));
  }
}
