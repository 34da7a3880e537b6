import { at } from "../engine/amounts.ts";
import type { AgentClock } from "./agent-clock.ts";
import type { Endpoint } from "./endpoints.ts";
import { GrantedWindow } from "./granted-window.ts";
import type { Fault } from "./options.ts";
import type { Call } from "./world.ts";

/** What agents may be above a limit for a moment though they hear each other, because two decide at once. */
const EXCESS = 0.02;
/** After these agents still hear each other and know the limits. */
const HARMLESS: readonly Fault["type"][] = ["provider", "refuse", "join", "leave"];

/**
 * What must hold for real hives and limiters in a simulated world:
 * - nothing is granted above a limit while agents hear each other;
 * - every acquire settles, and every grant ends once;
 * - an agent that is closed leaves no timer behind.
 */
export class RealLaws {
  readonly #endpoints: readonly Endpoint[];
  readonly #windows: readonly GrantedWindow[];
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

  constructor(endpoints: readonly Endpoint[], windowMs: number, drift: number, isDisturbed: boolean) {
    this.#endpoints = endpoints;
    this.#slack = EXCESS + 2 * drift;
    this.#isDisturbed = isDisturbed;
    this.#windows = endpoints.map(({ amounts }) => new GrantedWindow(amounts.length, windowMs));
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
    const window = this.#windows[call.sentTo] as GrantedWindow;
    const endpoint = this.#endpoints[call.sentTo] as Endpoint;
    window.add(call, call.expected, now);
    if (this.#isDisturbed) return;
    const most = window.sum.findIndex((sum, i) => sum > at(endpoint.amounts, i) * (1 + this.#slack));
    this.#need(
      most < 0,
      `${window.sum[most]} were granted in a window of ${endpoint.id}, where ${endpoint.amounts[most]} are allowed (at ${now})`,
    );
  }

  ended(call: Call, isAccepted: boolean): void {
    this.#need(this.#open.delete(call), "a call ends once");
    const used = isAccepted ? call.actual.map((amount, i) => Math.min(amount, at(call.expected, i))) : [];
    (this.#windows[call.sentTo] as GrantedWindow).settle(call, used);
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

  #need(isRight: boolean, law: string): void {
    if (!isRight) this.#failure ??= new Error(law);
  }
}
