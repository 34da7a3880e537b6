import { type CapacityExhaustedError, isHivepaceError, MemoryLimiter } from "@hivepace/core";
import { ManualClock } from "@hivepace/core/testing";
import { Signals } from "../core/counting-signal.ts";
import { checkIllegal } from "../core/illegal.ts";
import { ILLEGAL_CALLS } from "../core/illegal-limiter-calls.ts";
import { checkNumbers, stable } from "../core/numbers.ts";
import { checkRejection, Late } from "../core/promises.ts";
import type { Program, World } from "../core/subject.ts";
import { need } from "../core/violation.ts";
import { BucketModel, isBefore, type Waiter } from "./model.ts";
import type { Command, Limit, Patience, Setup } from "./program.ts";

const MINUTE = 60_000;
const ON_DEMAND: Limit = { resource: "demand", capacity: 5, windowMs: 10_000 };
/** Tolerance for late timers and rounded sums, in milliseconds. */
const SAME_MS = 0.01;

/** A `MemoryLimiter` in virtual time, with a bucket that replays its history as the model. */
export class MemoryLimiterWorld implements World<Command> {
  readonly #setup: Setup;
  readonly #clock = new ManualClock({ now: 5_000 });
  readonly #limiter: MemoryLimiter;
  readonly #models = new Map<string, BucketModel>();
  readonly #signals = new Signals(3);
  readonly #late = new Late();
  #order = 0;
  #unsettled = 0;
  #isClosing = false;

  constructor({ setup }: Program<Setup, Command>) {
    this.#setup = setup;
    const { maxQueue, onDemand, resources } = setup;
    const capacityFor = (name: string) => (name.startsWith("demand") ? ON_DEMAND : undefined);
    this.#limiter = new MemoryLimiter({ clock: this.#clock, maxQueue, ...(onDemand ? { capacityFor } : {}) });
    for (const limit of resources) this.#set(limit);
  }

  async run(command: Command): Promise<void> {
    switch (command.do) {
      case "acquire":
        this.#acquire(command.resource, command.options, (options) => this.#limiter.acquire(command.resource, options));
        break;
      case "run":
        this.#runWork(command);
        break;
      case "try":
        this.#try(command.resource, command.cost);
        break;
      case "release":
        this.#models.get(command.resource)?.release(command.cost ?? 1, this.#clock.now());
        this.#limiter.release(command.resource, command.cost);
        break;
      case "finish":
        this.#models.get(command.resource)?.finish();
        this.#limiter.finish(command.resource);
        break;
      case "set":
        this.#set(command);
        break;
      case "remove": {
        const isKnown = this.#models.delete(command.resource);
        const isRemoved = this.#limiter.removeResource(command.resource);
        const mayBeSwept = this.#setup.onDemand && command.resource.startsWith("demand");
        need(isRemoved === isKnown || mayBeSwept, "conservation", () => `removeResource said ${isRemoved}`);
        break;
      }
      case "announce":
        this.#limiter.announceReduced(command.resource, "429", { retryAfterMs: 1_000 });
        break;
      case "abort":
        this.#signals.abort(command.signal);
        break;
      case "listen":
        this.#listen(command.how);
        break;
      case "illegal": {
        const call = ILLEGAL_CALLS[command.call] as (typeof ILLEGAL_CALLS)[number];
        await checkIllegal(
          () => call(this.#limiter),
          String(call),
          () => stable(this.#limiter.status()),
        );
        break;
      }
      case "sleep":
        this.#clock.jump(command.ms);
        return this.#pass(1);
      case "pass":
        return this.#pass(command.ms);
    }
    await this.#pass(0);
  }

  check(): void {
    const now = this.#clock.now();
    const status = this.#limiter.status();
    checkNumbers(status, "status");
    for (const { resource, waiting, inFlight, total, available } of status.resources) {
      const model = this.#models.get(resource);
      need(model !== undefined, "conservation", () => `${resource} is not in the model`);
      if (!model) continue;
      need(waiting === model.waiting.size, "conservation", () => `${waiting} wait, not ${model.waiting.size}`);
      need(inFlight === model.inFlight, "conservation", () => `${inFlight} in flight, not ${model.inFlight}`);
      need(total === model.limit.capacity, "conservation", () => `the capacity is ${total}`);
      const tokens = Math.max(0, model.tokens(now));
      const rounding = roundingOf(model);
      const isRight = available <= tokens + rounding && available >= Math.floor(tokens - rounding);
      need(isRight, "conservation", () => `${available} available of ${tokens} tokens`);
    }
    for (const [resource, model] of this.#models) {
      this.#checkLine(resource, model, now);
      this.#checkForgotten(resource, model, now);
    }
    this.#signals.check(1);
  }

  async end(): Promise<void> {
    if (!this.#setup.closesEarly) {
      await this.#pass(MINUTE);
      for (const name of this.#models.keys()) await this.#drain(name);
      await this.#pass(10 * MINUTE);
      this.#checkSwept();
    }
    this.#isClosing = true;
    this.#models.clear();
    await this.#limiter.close();
    await this.#clock.run(MINUTE);
    this.#late.throw();
    need(this.#unsettled === 0, "liveness", () => `${this.#unsettled} promises are left after close`);
    need(this.#clock.pending === 0, "leftovers", () => `${this.#clock.pending} timers are left`);
    this.#signals.checkEmpty();
    need(!this.#limiter.tryAcquire("api"), "limit", () => "a closed limiter grants");
    const after = await this.#limiter.acquire("api").catch((error: unknown) => error);
    need(isHivepaceError(after, "LIMITER_CLOSED"), "reasons", () => `a closed limiter says ${after}`);
  }

  /**
   * Lets time pass until no call waits for a resource. Each step is as long as the model predicts, so that years pass
   * quickly.
   */
  async #drain(name: string): Promise<void> {
    for (let turn = 0; turn < 10_000; turn++) {
      const model = this.#models.get(name);
      const head = model?.head;
      if (!model || !head) return;
      const waitMs = model.waitMs(head.cost, this.#clock.now());
      // Jumps over all but the last second, because periodic timers would make years of virtual time slow.
      if (waitMs > MINUTE) this.#clock.jump(waitMs - 1_000);
      await this.#pass((waitMs > MINUTE ? 1_000 : waitMs) + 1);
      const isServed = !model.waiting.has(head);
      need(isServed, "liveness", () => `${name}: a call of ${head.cost} still waits after ${waitMs} ms`);
      // Work must not stay in flight forever.
      while (model.inFlight > 0) {
        model.finish();
        this.#limiter.finish(name);
      }
    }
  }

  /** Checks that a forgotten resource was idle, so that a new one in its place is equivalent. */
  #checkForgotten(resource: string, model: BucketModel, now: number): void {
    if (this.#limiter.getCapacity(resource)) return;
    const isIdle = model.inFlight === 0 && model.waiting.size === 0 && model.tokens(now) >= model.limit.burst - 1e-3;
    need(isIdle, "memory", () => `${resource} was forgotten while it was in use`);
    this.#models.delete(resource);
  }

  /** Checks that resources created on demand are forgotten once they are idle. */
  #checkSwept(): void {
    for (const [name, model] of this.#models) {
      const isSet = this.#limiter.status().resources.some(({ resource }) => resource === name);
      const isIdle = model.inFlight === 0 && model.tokens(this.#clock.now()) >= model.limit.burst - 1e-6;
      const isKept = !isSet && isIdle && this.#limiter.getCapacity(name) !== undefined;
      need(!isKept, "memory", () => `${name} is idle and was not forgotten`);
    }
  }

  #modelOf(resource: string): BucketModel | undefined {
    const known = this.#models.get(resource);
    if (known || !this.#setup.onDemand || !resource.startsWith("demand")) return known;
    const made = new BucketModel(ON_DEMAND, this.#clock.now());
    this.#models.set(resource, made);
    return made;
  }

  #set(limit: Limit): void {
    const { resource, capacity, windowMs, burst } = limit;
    const now = this.#clock.now();
    const known = this.#models.get(resource);
    if (known) known.resize(limit, now);
    else this.#models.set(resource, new BucketModel(limit, now));
    this.#limiter.setCapacity(resource, capacity, windowMs, { burst });
  }

  #try(resource: string, cost = 1): void {
    const model = this.#modelOf(resource);
    const isGranted = this.#limiter.tryAcquire(resource, cost);
    const now = this.#clock.now();
    need(!isGranted || model !== undefined, "limit", () => `${resource} is unknown and was granted`);
    if (!model) return;
    const tokens = model.tokens(now);
    const rounding = roundingOf(model);
    need(!isGranted || tokens >= cost - rounding, "limit", () => `granted ${cost} of ${tokens}`);
    need(!isGranted || model.waiting.size === 0, "order", () => "tryAcquire overtook a waiter");
    const isFree = model.waiting.size === 0 && tokens >= cost + rounding;
    need(isGranted || !isFree, "liveness", () => `denied ${cost} of ${tokens}, and nobody waits`);
    if (isGranted) model.take(cost, now);
  }

  #acquire(resource: string, options: Patience, call: (options: object) => Promise<unknown>): void {
    const { signal: number, cost = 1, timeoutMs = Infinity, priority = 0 } = options;
    const signal = number === undefined ? undefined : this.#signals.get(number);
    const model = this.#modelOf(resource);
    const now = this.#clock.now();
    const waiter: Waiter = { cost, rank: now - priority * 1_000, order: this.#order++, deadline: now + timeoutMs };
    const ahead = model?.waitingCost ?? 0;
    const size = model?.waiting.size ?? 0;
    const tokens = model?.tokens(now) ?? 0;
    model?.waiting.add(waiter);
    this.#unsettled++;
    const grant = (): void => {
      model?.waiting.delete(waiter);
      this.#unsettled--;
      if (!model) return;
      model.take(cost, this.#clock.now());
      this.#late.guard(() => this.#checkGrant(model, waiter));
    };
    const refuse = (error: unknown): void => {
      model?.waiting.delete(waiter);
      this.#unsettled--;
      this.#late.guard(() => {
        checkRejection(error, signal?.reason, "acquire");
        if (!isHivepaceError(error, "CAPACITY_EXHAUSTED") || !model) return;
        const isAtOnce = this.#clock.now() === now;
        if (isAtOnce && error.reason !== "too-large")
          this.#checkRetry(error, ((ahead + cost - tokens) * model.limit.windowMs) / model.limit.capacity);
        if (error.reason === "queue-full")
          need(size >= (this.#setup.maxQueue ?? Infinity), "reasons", () => `queue-full, and ${size} wait`);
        if (error.reason === "too-large")
          need(cost > model.limit.burst, "reasons", () => `too-large, ${cost} of ${model.limit.burst}`);
        if (error.reason === "timeout")
          need(this.#clock.now() >= waiter.deadline - SAME_MS, "reasons", () => "timeout before the deadline");
      });
    };
    this.#grants.set(waiter, grant);
    call({ ...options, cost: options.cost, signal }).then(
      () => this.#grants.get(waiter)?.(),
      (error: unknown) => {
        if (this.#grants.delete(waiter)) refuse(error);
      },
    );
  }

  /** Grants not counted by the model yet, each with a function that counts it. */
  readonly #grants = new Map<Waiter, () => void>();

  #runWork({ resource, options, workMs, fails }: Extract<Command, { do: "run" }>): void {
    const model = this.#modelOf(resource);
    let count: (() => void) | undefined;
    const work = async (): Promise<void> => {
      count?.();
      await new Promise<void>((resolve) => void this.#clock.after(workMs, resolve));
      model?.finish();
      if (fails) throw new Error("the work failed");
    };
    this.#acquire(resource, options, (given) => {
      const [waiter, grant] = [...this.#grants].at(-1) as [Waiter, () => void];
      let isCounted = false;
      count = () => {
        isCounted = true;
        grant();
      };
      return this.#limiter.run(resource, work, given).then(
        () => void this.#grants.delete(waiter),
        (error: unknown) => {
          if (isCounted) this.#grants.delete(waiter);
          if (!isCounted) throw error;
        },
      );
    });
  }

  #checkGrant(model: BucketModel, waiter: Waiter): void {
    const tokens = model.tokens(this.#clock.now());
    need(tokens >= -roundingOf(model), "limit", () => `granted ${waiter.cost}, ${-tokens} more than there was`);
    need(waiter.cost <= model.limit.burst, "limit", () => `granted ${waiter.cost} of ${model.limit.burst}`);
    this.#granted.push([model, waiter, this.#clock.now()]);
  }

  /** Grants of the present command. Their order is checked after all promises have settled. */
  #granted: [model: BucketModel, waiter: Waiter, at: number][] = [];

  #checkRetry({ retryAfterMs = Number.NaN }: CapacityExhaustedError, expectedMs: number): void {
    const isRight = Math.abs(retryAfterMs - expectedMs) <= SAME_MS + 1e-9 * expectedMs;
    need(isRight, "retry", () => `retryAfterMs is ${retryAfterMs}, and ${expectedMs} is right`);
  }

  #checkLine(resource: string, model: BucketModel, now: number): void {
    for (const { deadline } of model.waiting)
      need(deadline + SAME_MS >= now, "liveness", () => `a call for ${resource} waits after its deadline`);
    const { head } = model;
    if (!head) return;
    const tokens = model.tokens(now - SAME_MS);
    need(
      tokens < head.cost + roundingOf(model),
      "liveness",
      () => `a call of ${head.cost} for ${resource} waits, and ${tokens} are there`,
    );
  }

  #listen(how: "throws" | "reenters" | "sets"): void {
    let isInside = false;
    this.#limiter.onCapacityChange(({ resource, newCapacity }) => {
      if (how === "throws") throw new Error("a listener that throws");
      if (isInside || this.#isClosing) return;
      isInside = true;
      if (how === "reenters" && this.#limiter.tryAcquire(resource, 1))
        this.#models.get(resource)?.take(1, this.#clock.now());
      // A change of the same resource would happen before the model learns of the grants caused by the first change.
      if (how === "sets" && resource !== "other")
        this.#set({ resource: "other", capacity: newCapacity + 1, windowMs: 1_000 });
      isInside = false;
    });
  }

  async #pass(ms: number): Promise<void> {
    await this.#clock.run(ms);
    this.#late.throw();
    for (const [model, waiter, at] of this.#granted)
      for (const other of model.waiting) {
        const isOvertaken = other.deadline > at + SAME_MS && isBefore(other, waiter) && other.order < waiter.order;
        need(!isOvertaken, "order", () => `a call of ${waiter.cost} overtook one of ${other.cost}`);
      }
    this.#granted = [];
  }
}

/** The tokens that arrive within a microsecond: after years of virtual time the clock is not more precise. */
function roundingOf({ limit }: BucketModel): number {
  return 1e-6 + (1e-3 * limit.capacity) / limit.windowMs;
}
