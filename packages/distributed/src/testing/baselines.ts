import { type Amounts, addTo, at, fits, minus, scaled, UsageWindow, zeros } from "../engine/index.ts";
import type { Scheme } from "./options.ts";
import type { Answer, Call, Participant, World } from "./world.ts";

const RETRY_MS = 100;
const GOSSIP_MS = 1_000;

/**
 * Creates an agent of a baseline scheme that Hivepace is compared with. Baselines know the number of agents, which real
 * processes do not.
 */
export function newBaseline(scheme: Exclude<Scheme, "hive">, world: World, index: number): Participant {
  if (scheme === "naive") return new Naive(world, index);
  if (scheme === "equal-split") return new EqualSplit(world, index);
  return scheme === "gossip" ? new Gossip(world, index) : new DropRatio(world, index);
}

/** A queue of calls, with a rule that decides when its head may be sent. */
abstract class Baseline implements Participant {
  protected readonly world: World;
  protected readonly index: number;
  protected limits: Amounts;
  readonly #line: Call[] = [];
  #isUp = true;

  constructor(world: World, index: number) {
    this.world = world;
    this.index = index;
    this.limits = world.limits;
  }

  get waiting(): number {
    return this.#line.length;
  }

  start(): void {
    this.every(RETRY_MS, () => this.#serve());
  }

  arrive(call: Call): void {
    this.#line.push(call);
    this.#serve();
  }

  answered(_call: Call, _answer: Answer): void {}

  receive(_message: unknown): void {}

  stop(): void {
    this.#isUp = false;
  }

  setLimits(limits: Amounts): void {
    this.limits = limits;
  }

  protected abstract take(cost: Amounts): boolean;

  protected every(ms: number, run: () => void): void {
    this.world.after(ms, () => {
      if (!this.#isUp) return;
      run();
      this.every(ms, run);
    });
  }

  #serve(): void {
    for (let call = this.#line[0]; call; call = this.#line[0]) {
      if (call.givesUpAt > this.world.now) {
        if (!this.take(call.expected)) return;
        this.world.send(call);
      }
      this.#line.shift();
    }
  }
}

/** Every agent uses the whole limit. A refusal halves the capacity that all agents assume, which grows by 10 % every 30 s. */
class Naive extends Baseline {
  #capacity: number[] = [...this.limits];
  #spent: number[] = zeros(this.limits.length);
  #at = this.world.now;

  override start(): void {
    super.start();
    this.every(30_000, () => {
      this.#capacity = this.#capacity.map((amount, i) => Math.min(at(this.limits, i), Math.floor(amount * 1.1)));
    });
  }

  override answered(_call: Call, { outcome }: Answer): void {
    if (outcome !== "refused") return;
    this.#capacity = this.#capacity.map((amount) => Math.max(1, Math.floor(amount / 2)));
    this.world.broadcast(this.index, this.#capacity);
  }

  override receive(message: unknown): void {
    this.#capacity = [...(message as number[])];
  }

  protected take(cost: Amounts): boolean {
    const part = (this.world.now - this.#at) / this.world.windowMs;
    this.#at = this.world.now;
    this.#spent = this.#spent.map((amount, i) => Math.max(0, amount - at(this.#capacity, i) * part));
    const room = minus(this.#capacity, this.#spent);
    if (!fits(cost, room) && this.#spent.some((amount) => amount > 0)) return false;
    addTo(this.#spent, cost);
    return true;
  }
}

/** Every agent has an equal share of the limit. */
class EqualSplit extends Baseline {
  readonly #own = new UsageWindow(this.limits.length, this.world.windowMs);

  protected take(cost: Amounts): boolean {
    this.#own.expire(this.world.now);
    const part = scaled(this.limits, 1 / this.world.agents);
    // A call larger than the share would never fit, and is sent when the agent's own window is empty.
    if (!fits(cost, minus(part, this.#own.sum)) && this.#own.sum.some((amount) => amount > 0)) return false;
    this.#own.add(this.world.now, cost);
    return true;
  }
}

/** Every agent broadcasts its usage once a second, and sends while the sum it knows is below the limit. */
class Gossip extends Baseline {
  readonly #used = new UsageWindow(this.limits.length, this.world.windowMs);
  #unreported = zeros(this.limits.length);

  override start(): void {
    super.start();
    this.every(GOSSIP_MS, () => {
      this.world.broadcast(this.index, { from: this.index, used: this.#unreported });
      this.#unreported = zeros(this.limits.length);
    });
  }

  override receive(message: unknown): void {
    const { from, used } = message as { from: number; used: number[] };
    if (from !== this.index) this.#used.add(this.world.now, used);
  }

  protected take(cost: Amounts): boolean {
    this.#used.expire(this.world.now);
    if (!fits(cost, minus(this.limits, this.#used.sum))) return false;
    this.#used.add(this.world.now, cost);
    addTo(this.#unreported, cost);
    return true;
  }
}

/**
 * Every agent broadcasts its demand, and admits the fraction of its calls that would make total demand equal the limit.
 */
class DropRatio extends Baseline {
  readonly #wanted = new UsageWindow(this.limits.length, 10_000);
  readonly #others = new Map<number, number[]>();

  override start(): void {
    super.start();
    this.every(GOSSIP_MS, () => this.world.broadcast(this.index, { from: this.index, rate: this.#rate() }));
  }

  override receive(message: unknown): void {
    const { from, rate } = message as { from: number; rate: number[] };
    if (from !== this.index) this.#others.set(from, rate);
  }

  override arrive(call: Call): void {
    this.#wanted.add(this.world.now, call.expected);
    const all = this.#rate();
    for (const rate of this.#others.values()) addTo(all, rate);
    const parts = all.map((rate, i) => at(this.limits, i) / this.world.windowMs / rate);
    if (this.world.random() < Math.min(...parts)) super.arrive(call);
  }

  protected take(): boolean {
    return true;
  }

  #rate(): number[] {
    this.#wanted.expire(this.world.now);
    return scaled(this.#wanted.sum, 1 / this.#wanted.windowMs);
  }
}
