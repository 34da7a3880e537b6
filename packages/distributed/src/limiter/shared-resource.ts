import type { Clock, DecidingLimit, EventOrigin } from "@hivepace/core";
import type { WaitingRoom } from "@hivepace/core/internal";
import {
  type Amounts,
  at,
  availableAt,
  availableOf,
  fits,
  largestCost,
  mayTake,
  pausedUntil,
  type Quota,
  type QuotaPart,
  SLACK,
  shareOf,
  zeros,
} from "../engine/index.ts";
import type { AgentRunner } from "./agent-runner.ts";
import type { SwarmResource } from "./swarm-resource.ts";
import { UnmetDemand } from "./unmet-demand.ts";

/** The cost of a call in slots. */
const ONE: Amounts = [1];
/** The end of a call, as a correction. */
const RETURNED: Amounts = [-1];

/** A shared limit, decided by the engine. */
export class SharedResource implements SwarmResource {
  readonly name: string;
  readonly origin: EventOrigin;
  quota: Quota;
  inFlight = 0;
  room: WaitingRoom | undefined = undefined;
  burstOption: number | undefined;
  readonly #host: AgentRunner;
  readonly #clock: Clock;
  #isWaiting = false;
  readonly #onWaiting: (isWaiting: boolean) => void;
  readonly #tried: UnmetDemand;
  slots: Quota | undefined;
  #cancelExpiry: (() => void) | undefined;
  /** The cost of the call that is being decided. */
  readonly #cost = zeros(1);
  #lastParts: readonly QuotaPart[] = [];

  constructor(
    quota: Quota,
    host: AgentRunner,
    clock: Clock,
    onWaiting: (isWaiting: boolean) => void,
    burstOption: number | undefined,
  ) {
    this.name = quota.config.name;
    this.origin = { source: "distributed-limiter", agentId: host.agent.config.id };
    this.quota = quota;
    this.burstOption = burstOption;
    this.#host = host;
    this.#clock = clock;
    this.#onWaiting = onWaiting;
    this.#tried = new UnmetDemand(clock, (next, all, now) => this.#wantTried(next, all, now));
  }

  /** The largest cost that the swarm can send at once at the full level. */
  get burst(): number {
    return at(largestCost(this.#host.agent, this.quota), 0);
  }

  limitedBy(now: number): DecidingLimit {
    if (now < pausedUntil(this.quota.backoff.level)) return "swarm-pause";
    return this.slots && !mayTake(this.#host.agent, this.slots, ONE, now) ? "swarm-in-flight" : "capacity";
  }

  take(cost: number, now: number): boolean {
    this.#cost[0] = cost;
    const isTaken = this.#host.take(this.#parts(), now);
    if (isTaken && this.slots && !this.#cancelExpiry) this.#awaitExpiry(now);
    if (isTaken) this.#tried.granted();
    return isTaken;
  }

  /** The parts of a call, which are kept until a quota is replaced. The engine copies the amounts that it keeps. */
  #parts(): readonly QuotaPart[] {
    const [rate, slot] = this.#lastParts;
    if (rate?.quota !== this.quota || slot?.quota !== this.slots)
      this.#lastParts = [
        { quota: this.quota, cost: this.#cost },
        ...(this.slots ? [{ quota: this.slots, cost: ONE }] : []),
      ];
    return this.#lastParts;
  }

  /** Always `now`, because only `take` can decide. */
  readyAt(_cost: number, now: number): number {
    return now;
  }

  /** Exact for a lone agent without further demand; an estimate in a swarm. */
  waitMs(cost: number, now: number, ahead = 0): number {
    const { agent } = this.#host;
    const at = availableAt(agent, this.quota, [cost], ahead > 0 ? [ahead] : undefined, now);
    const slotAt = this.slots
      ? availableAt(agent, this.slots, ONE, ahead > 0 ? [this.room?.size ?? 1] : undefined, now)
      : now;
    return Math.max(0, at - now, slotAt - now);
  }

  lineChanged(next: number | undefined, all: number, now: number): number {
    const isWaiting = next !== undefined;
    if (isWaiting !== this.#isWaiting) {
      this.#isWaiting = isWaiting;
      this.#onWaiting(isWaiting);
    }
    if (isWaiting) this.#tried.forget();
    const cost = next === undefined ? undefined : [next];
    const { slots } = this;
    const { agent } = this.#host;
    // A call that waits for a slot does not claim a rate that has capacity: a claim takes time, and the slot would wait.
    const hasRate = slots && cost && this.#isOpen(cost, now);
    this.#want(hasRate ? undefined : cost, [Math.max(next ?? 0, all)], now);
    if (slots) this.#wantSlots(cost !== undefined && mayTake(agent, this.quota, cost, now), now);
    return Infinity;
  }

  denied(cost: number, now: number): void {
    if (!this.room && cost <= this.burst) this.#tried.denied([cost], now);
  }

  ended(now: number): void {
    const [startedAt] = this.slots?.slots?.starts ?? [];
    if (startedAt !== undefined) this.#release(startedAt, now);
  }

  /** Does nothing: peers may have counted the usage already. */
  giveBack(): void {}

  available(now: number): number {
    const { agent } = this.#host;
    const rate = whole(at(availableOf(agent, this.quota, now), 0));
    return this.slots ? Math.min(rate, whole(at(availableOf(agent, this.slots, now), 0))) : rate;
  }

  share(now: number): number {
    return at(shareOf(this.#host.agent, this.quota, now), 0);
  }

  changed(): void {
    this.room?.refit();
  }

  /** Withdraws the demand of denied tries: a claim that outlives its resource would delay the other agents. */
  close(): void {
    this.#tried.forget();
    this.#cancelExpiry?.();
    this.#cancelExpiry = undefined;
    const now = this.#clock.now();
    this.#want(undefined, undefined, now);
    if (this.slots) this.#wantSlots(false, now);
  }

  /** True when a call of this cost needs no claim for its rate. Withdraws a claim that is used up. */
  #isOpen(cost: Amounts, now: number): boolean {
    // A store withdraws a grant without demand.
    if (this.#host.agent.store?.isStore) return false;
    const { own } = this.quota.claims;
    if (own && fits(cost, own.amounts)) return false;
    if (own) this.#want(undefined, undefined, now);
    return mayTake(this.#host.agent, this.quota, cost, now);
  }

  /** Claims the capacity that a denied try lacks: its rate, or a slot where the rate has capacity. */
  #wantTried(next: Amounts | undefined, all: Amounts | undefined, now: number): void {
    const hasRate = next !== undefined && this.slots !== undefined && mayTake(this.#host.agent, this.quota, next, now);
    this.#want(hasRate ? undefined : next, all, now, true);
    if (this.slots) this.#wantSlots(hasRate, now);
  }

  /** Claims slots for the waiters, or withdraws the claim. */
  #wantSlots(isWaiting: boolean, now: number): void {
    const quota = this.slots?.config.name;
    if (quota === undefined || !this.#host.agent.quotas.has(quota)) return;
    const demand = isWaiting ? { next: ONE, all: [Math.max(1, this.room?.size ?? 1)] } : { next: undefined };
    this.#host.do({ type: "want", quota, ...demand }, now);
  }

  /** Frees the slot of a call. The quota may have been removed with its resource. */
  #release(startedAt: number, now: number): void {
    const quota = this.slots?.config.name;
    if (quota !== undefined) this.#host.settle(quota, RETURNED, undefined, startedAt, now);
  }

  /** Ends calls that were not finished in time, the oldest first. */
  #awaitExpiry(now: number): void {
    this.#cancelExpiry = undefined;
    const [first] = this.slots?.slots?.starts ?? [];
    const leaseMs = this.slots?.config.leaseMs;
    if (first === undefined || leaseMs === undefined) return;
    const expire = (): void => {
      const time = this.#clock.now();
      for (const startedAt of [...(this.slots?.slots?.starts ?? [])]) {
        if (startedAt + leaseMs > time) break;
        this.inFlight = Math.max(0, this.inFlight - 1);
        this.#release(startedAt, time);
      }
      this.#awaitExpiry(time);
    };
    this.#cancelExpiry = this.#clock.after(Math.max(1, first + leaseMs - now), expire, { background: true });
  }

  #want(next: Amounts | undefined, all: Amounts | undefined, now: number, tried = false): void {
    this.#host.do({ type: "want", quota: this.name, next, ...(next && all ? { all } : {}), tried }, now);
  }
}

function whole(amount: number): number {
  return Math.max(0, Math.floor(amount + SLACK));
}
