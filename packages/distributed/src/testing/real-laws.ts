import { at } from "../engine/index.ts";
import type { AgentClock } from "./agent-clock.ts";
import type { Endpoint } from "./endpoints.ts";
import { GrantedWindow } from "./granted-window.ts";
import type { Fault, KeyOptions } from "./options.ts";
import type { Call } from "./world.ts";

/**
 * Allowed excess over a limit while agents receive each other's messages, as a fraction, because two agents may decide
 * at the same time.
 */
const EXCESS = 0.02;
/** Faults after which agents still receive each other's messages and know the limits. */
const HARMLESS: readonly Fault["type"][] = ["provider", "refuse", "join", "leave"];

export interface RealLawsOptions {
  readonly endpoints: readonly Endpoint[];
  readonly keys?: readonly KeyOptions[] | undefined;
  readonly windowMs: number;
  /** Largest clock drift, as a fraction. */
  readonly drift: number;
  /** Whether agents lack information about each other from the start. */
  readonly isDisturbed: boolean;
}

/** A limit, and the amounts granted of it. */
interface Granted {
  readonly name: string;
  /** A limit for each dimension; Infinity means no limit. */
  readonly limits: readonly number[];
  readonly window: GrantedWindow;
}

/**
 * Invariants of hives and limiters in a simulated world:
 * - no grant exceeds a limit while agents receive each other's messages;
 * - every acquire settles, and every grant ends once;
 * - a closed agent leaves no timer behind.
 */
export class RealLaws {
  readonly #endpoints: readonly Granted[];
  readonly #keys = new Map<string, Granted>();
  /**
   * Tolerance above the limits, as a fraction. Limits hold exactly only while every agent can know all grants of the
   * others.
   */
  readonly #slack: number;
  #isDisturbed: boolean;
  #asked = 0;
  #settled = 0;
  /** Waits of crashed processes, which never settle. */
  #lost = 0;
  readonly #open = new Set<Call>();
  readonly #clocks = new Set<AgentClock>();
  readonly #closing = new Map<string, Promise<void>>();
  #failure: Error | undefined;

  constructor({ endpoints, keys = [], windowMs, drift, isDisturbed }: RealLawsOptions) {
    this.#slack = EXCESS + 2 * drift;
    this.#isDisturbed = isDisturbed;
    const granted = (name: string, limits: readonly number[]): Granted => ({
      name,
      limits,
      window: new GrantedWindow(limits.length, windowMs),
    });
    this.#endpoints = endpoints.map(({ id, amounts }) => granted(id, amounts));
    const [first] = endpoints;
    if (!first) return;
    const kinds = (["requests", "tokens"] as const).filter((kind) => first.limits[kind] !== undefined);
    for (const { key, limits = {} } of keys) {
      const own = kinds.map((kind) => limits[kind] ?? Infinity);
      this.#keys.set(key, granted(`the key ${key}`, own));
    }
  }

  disturbed(fault: Fault): void {
    if (!HARMLESS.includes(fault.type)) this.#isDisturbed = true;
  }

  opened(clock: AgentClock): void {
    this.#clocks.add(clock);
  }

  asked(): void {
    this.#asked++;
  }

  settled(): void {
    this.#settled++;
  }

  granted(call: Call, now: number): void {
    this.#need(!this.#open.has(call), "a call is granted once at a time");
    this.#open.add(call);
    for (const { name, limits, window } of this.#limitsOf(call)) {
      window.add(call, call.expected, now);
      if (this.#isDisturbed) continue;
      const most = window.sum.findIndex((sum, i) => sum > at(limits, i) * (1 + this.#slack));
      this.#need(
        most < 0,
        `${window.sum[most]} were granted in a window of ${name}, where ${limits[most]} are allowed (at ${now})`,
      );
    }
  }

  ended(call: Call, isAccepted: boolean): void {
    this.#need(this.#open.delete(call), "a call ends once");
    const used = isAccepted ? call.actual.map((amount, i) => Math.min(amount, at(call.expected, i))) : [];
    for (const { window } of this.#limitsOf(call)) window.settle(call, used);
  }

  /** Notes that a process ends with a goodbye, which also ends its calls in flight. */
  closing(id: string, clock: AgentClock, calls: Iterable<Call>, closed: Promise<void>): void {
    for (const call of calls) this.#open.delete(call);
    this.#closing.set(id, closed);
    closed.then(
      () => {
        this.#closing.delete(id);
        this.#clocks.delete(clock);
        this.#need(clock.pending === 0, `${id}: an agent that is closed leaves no timer, ${clock.pending} are armed`);
      },
      (error: unknown) => this.failed(id, error),
    );
  }

  crashed(clock: AgentClock, calls: Iterable<Call>, waiting: number): void {
    for (const call of calls) this.#open.delete(call);
    this.#clocks.delete(clock);
    this.#lost += waiting;
  }

  /** Notes an unexpected exception. */
  failed(id: string, error: unknown): void {
    this.#failure ??= new Error(`${id}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  }

  /** Throws the first violation, if any. */
  check(): void {
    if (this.#failure) throw this.#failure;
  }

  /** Throws if anything is left after all agents were closed. */
  checkEnd(): void {
    this.check();
    this.#need(this.#closing.size === 0, `every close settles: ${[...this.#closing.keys()].join(", ")} did not`);
    const open = this.#asked - this.#settled;
    this.#need(open <= this.#lost, `every acquire settles: ${open} did not, ${this.#lost} of them by crashes`);
    this.#need(this.#open.size === 0, `every grant ends: ${this.#open.size} did not`);
    this.check();
  }

  #limitsOf({ sentTo, key }: Call): Granted[] {
    const ofKey = key === undefined ? undefined : this.#keys.get(key);
    return [this.#endpoints[sentTo] as Granted, ...(ofKey ? [ofKey] : [])];
  }

  #need(isRight: boolean, law: string): void {
    if (!isRight) this.#failure ??= new Error(law);
  }
}
