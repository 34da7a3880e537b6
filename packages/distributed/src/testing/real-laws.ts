import { at } from "../engine/amounts.ts";
import type { AgentClock } from "./agent-clock.ts";
import type { Endpoint } from "./endpoints.ts";
import { GrantedWindow } from "./granted-window.ts";
import type { Fault, KeyOptions } from "./options.ts";
import type { Call } from "./world.ts";

/** What agents may be above a limit for a moment though they hear each other, because two decide at once. */
const EXCESS = 0.02;
/** After these agents still hear each other and know the limits. */
const HARMLESS: readonly Fault["type"][] = ["provider", "refuse", "join", "leave"];

export interface RealLawsOptions {
  readonly endpoints: readonly Endpoint[];
  readonly keys?: readonly KeyOptions[] | undefined;
  readonly windowMs: number;
  /** By how much clocks are off at most, as a part. */
  readonly drift: number;
  /** Whether agents cannot know enough of each other from the start. */
  readonly isDisturbed: boolean;
}

/** A limit, and what was granted of it. */
interface Granted {
  readonly name: string;
  /** A limit for each dimension; Infinity: none. */
  readonly limits: readonly number[];
  readonly window: GrantedWindow;
}

/**
 * What must hold for real hives and limiters in a simulated world:
 * - nothing is granted above a limit while agents hear each other;
 * - every acquire settles, and every grant ends once;
 * - an agent that is closed leaves no timer behind.
 */
export class RealLaws {
  readonly #endpoints: readonly Granted[];
  readonly #keys = new Map<string, Granted>();
  /** Limits hold exactly only while all agents can know what all others were granted. */
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

  /** A process ends with a goodbye: its calls in flight end with it. */
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

  /** Something was thrown that no program expects. */
  failed(id: string, error: unknown): void {
    this.#failure ??= new Error(`${id}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  }

  /** Throws what was broken so far. */
  check(): void {
    if (this.#failure) throw this.#failure;
  }

  /** Throws when something is left after all agents were closed. */
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
