import { isHivepaceError, type RateDecision, RateManager, type RateRequest } from "@hivepace/core";
import { ManualClock } from "@hivepace/core/testing";
import { checkIllegal } from "../core/illegal.ts";
import { checkNumbers, stable } from "../core/numbers.ts";
import type { Program, World } from "../core/subject.ts";
import { need, Violation } from "../core/violation.ts";
import { Directory, ON_DEMAND } from "./directory.ts";
import { ILLEGAL_CALLS } from "./illegal-calls.ts";
import {
  type Against,
  type Amounts,
  against,
  amountsOf,
  type Charge,
  type Counted,
  countOf,
  inFlightOf,
  isSplit,
  type Moment,
  settle,
} from "./model.ts";
import type { Command, Setup } from "./program.ts";

/** Tolerance for sliding windows, whose counts are fractions. */
const SLACK = 1e-3;

/** One `RateManager`, or two that share memory, in virtual time, with a model that keeps every request. */
export class RateManagerWorld implements World<Command> {
  readonly #setup: Setup;
  readonly #clock = new ManualClock({ now: 5_000, epochMs: Date.UTC(2030, 0, 1) + 1_234 });
  readonly #managers: RateManager[];
  readonly #model: Directory;
  readonly #made: Made[] = [];
  /** The time of one window boundary. */
  #edge: number;
  /** The number of the window that begins at that boundary. A shift makes it larger than any before. */
  #first = 1;
  /** Until this time the windows are being shifted, and the model does not know the present one. */
  #unsureUntil = -Infinity;
  #isShifting = false;

  constructor({ setup }: Program<Setup, Command>) {
    this.#setup = setup;
    const { windowMs, window, isShared, mockEndpointTpmThreshold, endpoints, keys } = setup;
    const limitsForKey = (key: string) => (key === "demand" ? ON_DEMAND : undefined);
    const clock = this.#clock;
    const first = new RateManager({ windowMs, window, mockEndpointTpmThreshold, clock, limitsForKey });
    this.#model = new Directory(mockEndpointTpmThreshold ?? Infinity);
    this.#edge = clock.now() - (clock.epochMs() % windowMs);
    first.loadConfig({ endpoints, keys });
    this.#model.load({ endpoints, keys }, this.#window);
    this.#managers = [first];
    if (isShared)
      this.#managers.push(
        new RateManager({ shared: first.share({ maxIds: 60 }), mockEndpointTpmThreshold, clock, limitsForKey }),
      );
  }

  async run(command: Command): Promise<void> {
    if (command.do === "pass") return void this.#clock.advance(command.ms);
    const manager = this.#managers[command.via % this.#managers.length] as RateManager;
    switch (command.do) {
      case "check":
        return this.#decide(manager, command.request, () => manager.check(command.request));
      case "handle": {
        const { tokens, inputTokens, outputTokens, ...target } = command.request;
        return this.#decide(manager, command.request, () =>
          manager.handle(target).check(tokens, inputTokens, outputTokens),
        );
      }
      case "peek":
        return void this.#decided(command.request, () => manager.peek(command.request));
      case "settle":
      case "cancel":
        return this.#end(command);
      case "set":
        manager.setEndpoint(command.endpoint);
        return this.#model.setEndpoint(command.endpoint, this.#window);
      case "remove": {
        const isKnown = this.#model.removeEndpoint(command.id, command.model);
        const isRemoved = manager.removeEndpoint(command.id, command.model);
        return need(isKnown === isRemoved, "conservation", () => `removeEndpoint said ${isRemoved}`);
      }
      case "set-key":
        manager.setKey(command.id, command.limits);
        return this.#model.setKey(command.id, command.limits, this.#window);
      case "remove-key": {
        const isKnown = this.#model.removeKey(command.id);
        const isRemoved = manager.removeKey(command.id);
        return need(isKnown === isRemoved, "conservation", () => `removeKey said ${isRemoved}`);
      }
      case "load":
        manager.loadConfig(command.config);
        return this.#model.load(command.config, this.#window);
      case "rephase":
        manager.rephase(this.#clock.epochMs() + command.aheadMs);
        this.#first += 1e9;
        this.#isShifting = true;
        this.#unsureUntil = this.#clock.now() + 3 * this.#setup.windowMs;
        return;
      case "illegal": {
        const call = ILLEGAL_CALLS[command.call] as (typeof ILLEGAL_CALLS)[number];
        // With shared memory, this invalid call would be valid: the manager returns its existing handle.
        if (String(call).includes("maxIds") && this.#setup.isShared) return;
        return checkIllegal(
          () => call(manager),
          String(call),
          () => stable(manager.snapshot()),
        );
      }
    }
  }

  check(): void {
    for (const manager of this.#managers) {
      const snapshot = manager.snapshot();
      checkNumbers(snapshot, "snapshot");
      const { remainingMs, endpoints } = snapshot;
      need(
        remainingMs > 0 && remainingMs <= 2 * this.#setup.windowMs,
        "numbers",
        () => `remainingMs is ${remainingMs}`,
      );
      if (this.#isShifting && this.#clock.now() >= this.#unsureUntil) {
        // The windows have been shifted, and the model counts from the next boundary on.
        this.#isShifting = false;
        this.#edge = this.#clock.now() + remainingMs;
        this.#unsureUntil = this.#edge;
      }
      if (this.#isUnsure) continue;
      need(endpoints.length <= this.#model.endpoints.size, "memory", () => `${endpoints.length} endpoints are known`);
      for (const { id, model, requests, tokens, inFlight, maxInFlightPerProcess } of endpoints) {
        const counted = this.#model.endpoint({ endpoint: id, model });
        need(counted !== undefined, "conservation", () => `${id} is not in the model`);
        if (!counted || this.#isUnsureOf(counted)) continue;
        const now = { ...this.#moment, weightBefore: 0 };
        const expected = [countOf(counted, "requests", now), countOf(counted, "tokens", now)];
        const isRight = requests === expected[0] && tokens === expected[1];
        need(
          isRight,
          "conservation",
          () => `${id}: ${requests} and ${tokens} are counted, not ${expected.join(" and ")}`,
        );
        if (maxInFlightPerProcess < Infinity)
          need(
            inFlight === inFlightOf(counted),
            "conservation",
            () => `${inFlight} in flight, not ${inFlightOf(counted)}`,
          );
      }
    }
  }

  async end(): Promise<void> {
    for (const { decision, via } of this.#made) via.cancel(decision);
    need(this.#clock.pending === 0, "leftovers", () => `${this.#clock.pending} timers are left`);
  }

  get #isUnsure(): boolean {
    return this.#isShifting || this.#clock.now() < this.#unsureUntil;
  }

  #isUnsureOf(...records: readonly (Counted | undefined)[]): boolean {
    return records.some((each) => each !== undefined && this.#window < each.unsureUntil);
  }

  /** The number of the present window; never negative. */
  get #window(): number {
    return this.#windowAt(this.#clock.now());
  }

  /** The number of the window at a time. The manager starts in window 1. */
  #windowAt(time: number): number {
    return this.#first + Math.floor((time - this.#edge) / this.#setup.windowMs);
  }

  get #moment(): Moment {
    return this.#momentAt(this.#clock.now());
  }

  #momentAt(time: number): Moment {
    const { windowMs, window } = this.#setup;
    const number = this.#windowAt(time);
    const elapsed = (time - this.#edge) / windowMs - (number - this.#first);
    return { window: number, weightBefore: window === "sliding" ? 1 - elapsed : 0 };
  }

  #decide(via: RateManager, request: RateRequest, decide: () => RateDecision): void {
    const foreseen = this.#isUnsure ? undefined : this.#quietly(() => via.peek(request));
    const found = this.#decided(request, decide);
    if (!found) return;
    const { decision, endpoint, key } = found;
    if (foreseen && foreseen.allowed !== decision.allowed)
      throw new Violation("explanations", `peek said ${foreseen.allowed}, and check ${decision.allowed}`);
    if (!decision.allowed) return;
    const amounts = amountsOf(request);
    const charges = [key, endpoint].flatMap((counted): Made["charges"] => {
      if (!counted) return [];
      const { limits } = counted;
      const isInFlight = limits.maxInFlightPerProcess !== undefined;
      const charge = { window: this.#isUnsure ? -1 : this.#window, isSplit: isSplit(limits), isInFlight, amounts };
      counted.charges.push(charge);
      return [[counted, charge]];
    });
    this.#made.push({ decision, via, charges, amounts, isOpen: true });
  }

  #quietly(run: () => RateDecision): RateDecision | undefined {
    try {
      return run();
    } catch {
      return undefined;
    }
  }

  /** Makes a decision and compares it with the model. Returns undefined when the endpoint is unknown. */
  #decided(request: RateRequest, decide: () => RateDecision) {
    const endpoint = this.#model.endpoint(request);
    const key = endpoint && this.#model.key(request.key);
    let decision: RateDecision;
    try {
      decision = decide();
    } catch (error) {
      const isRight = isHivepaceError(error, "RESOURCE_UNKNOWN") && !endpoint;
      need(isRight, "typed errors", () => `threw ${String(error)}`);
      return undefined;
    }
    if (!endpoint) throw new Violation("reasons", `${request.endpoint} is unknown and was decided on`);
    checkNumbers(decision, "decision");
    need(decision.utilization <= 1, "numbers", () => `the utilization is ${decision.utilization}`);
    const isUnsure = this.#isUnsure || this.#isUnsureOf(endpoint, key);
    if (!isUnsure) this.#compare(request, decision, endpoint, key);
    return { decision, endpoint, key };
  }

  #compare(request: RateRequest, decision: RateDecision, endpoint: Counted, key: Counted | undefined): void {
    const strictly = this.#against(request, endpoint, key, this.#moment, -SLACK);
    const surely = this.#against(request, endpoint, key, this.#moment, SLACK);
    const { allowed, reason, limitedBy, retryAfterMs } = decision;
    need(!allowed || surely.length === 0, "limit", () => `allowed against ${surely.map(({ by }) => by).join(", ")}`);
    need(allowed || strictly.length > 0, "liveness", () => `denied by ${limitedBy}, and nothing stands against it`);
    need(allowed === (reason === undefined), "reasons", () => `allowed is ${allowed}, and the reason ${reason}`);
    if (allowed) return;
    const named = strictly.find(({ by }) => by === limitedBy);
    need(named !== undefined, "reasons", () => `limitedBy is ${limitedBy}, which does not stand against it`);
    const isTooLarge = strictly.some((each) => each.isTooLarge);
    need(isTooLarge === (reason === "too-large"), "reasons", () => `the reason is ${reason}, by ${limitedBy}`);
    need((reason === "rate") === (retryAfterMs !== undefined), "retry", () => `${reason} with ${retryAfterMs}`);
    const isByCalls = strictly.some(({ by }) => by === "endpoint-in-flight");
    if (retryAfterMs === undefined || isByCalls) return;
    const at = (ms: number, slack: number): Against[] =>
      this.#against(request, endpoint, key, this.#momentAt(this.#clock.now() + ms), slack);
    need(at(retryAfterMs, SLACK).length === 0, "retry", () => `denied after its retryAfterMs of ${retryAfterMs}`);
    const isTooLate = retryAfterMs > 2 && at(retryAfterMs - 2, -SLACK).length === 0;
    need(!isTooLate, "retry", () => `allowed 2 ms before its retryAfterMs of ${retryAfterMs}`);
  }

  #against(
    request: RateRequest,
    endpoint: Counted,
    key: Counted | undefined,
    moment: Moment,
    slack: number,
  ): Against[] {
    const amounts = amountsOf(request);
    return [
      ...(key ? against(key, amounts, moment, "key", slack) : []),
      ...against(endpoint, amounts, moment, "endpoint", slack),
    ];
  }

  #end(command: Extract<Command, { do: "settle" | "cancel" }>): void {
    const made = this.#made[command.decision % Math.max(1, this.#made.length)];
    if (!made) return;
    const { decision, via, charges, amounts, isOpen } = made;
    const isSettled = command.do === "settle";
    const { inputTokens, outputTokens, tokens } = isSettled ? command : NOTHING;
    if (isSettled) via.settle(decision, tokens, { inputTokens, outputTokens });
    else via.cancel(decision);
    made.isOpen = false;
    if (!isOpen) return;
    const really: Amounts = {
      requests: isSettled ? 1 : 0,
      tokens,
      inputTokens: inputTokens ?? amounts.inputTokens,
      outputTokens: outputTokens ?? amounts.outputTokens,
    };
    for (const [counted, charge] of charges) settle(counted, charge, really, this.#window);
  }
}

const NOTHING = { tokens: 0, inputTokens: 0, outputTokens: 0 };

/** An allowed decision, and the charges that the model counted for it. */
interface Made {
  readonly decision: RateDecision;
  readonly via: RateManager;
  readonly charges: readonly (readonly [Counted, Charge])[];
  readonly amounts: Amounts;
  isOpen: boolean;
}
