import { type Agent, newAgent } from "../engine/agent.ts";
import { type Amounts, addTo, minus, scaled, takeFrom, zeros } from "../engine/amounts.ts";
import type { Ask } from "../engine/ask.ts";
import type { Effects, Event } from "../engine/events.ts";
import { levelAt } from "../engine/level.ts";
import { countMembers } from "../engine/members.ts";
import type { Message } from "../engine/message.ts";
import { newPool, type Pool } from "../engine/pool.ts";
import type { Isolation } from "../engine/silence.ts";
import { step } from "../engine/step.ts";
import type { StoreConfig } from "../engine/store-side.ts";
import { TUNING, type Tuning } from "../engine/tuning.ts";
import type { Answer, Call, Participant, World } from "./world.ts";

const POOL = "provider";
const RETRIES = 5;
const TRY_EVERY_MS = 100;
/** A denied try counts as demand for so long. */
const TRIED_MS = 2_000;

export interface EngineAgentOptions {
  readonly index: number;
  readonly id: string;
  readonly life: number;
  readonly weight: number;
  readonly isolation: Isolation;
  readonly expectedAgents: number | undefined;
  readonly tryOnly: boolean;
  /** This agent's own clock, for the world's time. */
  readonly clock: (worldMs: number) => number;
  readonly tuning: Partial<Tuning> | undefined;
  readonly store: StoreConfig | undefined;
  /** Called after everything that happens to it. */
  readonly observe: (agent: Agent, event: Event, effects: Effects) => void;
}

/** The pure engine in the simulated world, with a line of calls before it. */
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
  /** Calls that try and try again. */
  #trying = 0;

  constructor(world: World, options: EngineAgentOptions) {
    const { id, life, weight, isolation, expectedAgents, tuning, store } = options;
    this.#world = world;
    this.#options = options;
    this.#waitingAmounts = zeros(world.limits.length);
    const config = {
      id,
      life,
      weight,
      isolation,
      expectedAgents,
      hasBus: true,
      echoes: true,
      store,
      tuning: { ...TUNING, ...tuning },
    };
    this.state = newAgent(config, this.#now);
    this.state.pools.set(POOL, newPool(this.#poolConfig(world.limits)));
  }

  get pool(): Pool {
    return this.state.pools.get(POOL) as Pool;
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
      if (more.some((amount) => amount !== 0)) this.#do({ type: "settle", pool: POOL, more, sentAt });
      return;
    }
    this.#do({ type: "settle", pool: POOL, more: scaled(call.expected, -1), sentAt });
    const isOverload = outcome === "overloaded";
    if (outcome !== "failed")
      this.#do({ type: "refused", pool: POOL, refused: { sentAt, retryAfterMs, reason: "429", isOverload } });
    if (++call.tries > RETRIES) return;
    this.#line.unshift(call);
    addTo(this.#waitingAmounts, call.expected);
    this.#pump();
  }

  hear(message: unknown): void {
    this.#do({ type: "hear", message: message as Message });
  }

  stop(graceful: boolean): void {
    if (graceful) this.#do({ type: "leave" });
    this.#isUp = false;
  }

  setLimits(limits: Amounts): void {
    this.pool.config = this.#poolConfig(limits);
    countMembers(this.state);
    this.#do({ type: "wake" });
  }

  /** Stands still: what it planned is overdue when it goes on. */
  pause(): void {
    this.#isUp = false;
  }

  resume(): void {
    this.#isUp = true;
    this.#wakeAt = Infinity;
    this.#do({ type: "wake" });
  }

  level(): number {
    return levelAt(this.pool.level, this.#now);
  }

  levelText(): string {
    const { epoch, round, base } = this.pool.level;
    return `${epoch} ${round} ${base}`;
  }

  limitsText(): string {
    return this.pool.limits.join(" ");
  }

  get #now(): number {
    return this.#options.clock(this.#world.now);
  }

  #poolConfig(limits: Amounts) {
    const { windowMs } = this.#world;
    const rules = {
      reduceFactor: 0.5,
      recoveryFactor: 1.1,
      recoveryIntervalMs: 30_000,
      most: 1,
      cooldownMs: windowMs,
      least: 1 / Math.max(...limits),
    };
    return { name: POOL, limits, windowMs, rules };
  }

  #do(event: Event): boolean {
    if (!this.#isUp) return false;
    const effects = step(this.state, event, this.#now);
    this.#options.observe(this.state, event, effects);
    if (effects.ask) this.#ask(effects.ask);
    if (effects.publish) this.#world.broadcast(this.#options.index, effects.publish);
    // The last word cannot be repeated later.
    if (effects.publish?.bye) this.#world.broadcast(this.#options.index, effects.publish);
    this.#plan(effects.wakeAt);
    if (effects.retry.length > 0) this.#pump();
    return effects.taken;
  }

  #ask(ask: Ask): void {
    const { sequence: seq } = ask;
    this.#world.share(this.#options.index, ask, (reply) =>
      this.#do(reply ? { type: "answer", seq, reply } : { type: "unanswered", seq }),
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

  /** Sends what may be sent, and says what is left. */
  #pump(): void {
    if (this.#isPumping || this.#options.tryOnly) return;
    this.#isPumping = true;
    for (let call = this.#line[0]; call; call = this.#line[0]) {
      if (!this.#do({ type: "take", pool: POOL, cost: call.expected })) break;
      this.#line.shift();
      takeFrom(this.#waitingAmounts, call.expected);
      this.#world.send(call);
    }
    const next = this.#line[0]?.expected;
    this.#do({ type: "want", pool: POOL, next, all: [...this.#waitingAmounts] });
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
    const isTaken = !isOver && this.#do({ type: "take", pool: POOL, cost: call.expected });
    if (isOver || isTaken) {
      this.#trying--;
      if (isTaken) this.#world.send(call);
      return;
    }
    const triedAt = this.#world.now;
    this.#triedAt = triedAt;
    this.#do({ type: "want", pool: POOL, next: call.expected, all: call.expected });
    this.#world.after(TRIED_MS, () => {
      if (this.#isUp && this.#triedAt === triedAt) this.#do({ type: "want", pool: POOL, next: undefined });
    });
    this.#world.after(TRY_EVERY_MS * (0.5 + this.#world.random()), () => this.#try(call));
  }
}
