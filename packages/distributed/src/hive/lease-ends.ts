import type { Clock, EndedEvent, Failure, OfResource, Refusal, UsedTokens } from "@hivepace/core";
import { InvalidConfigError } from "@hivepace/core";
import { checkConcerns, checkRefusal, ended } from "@hivepace/core/internal";
import { type Answer, REMEMBERED } from "../engine/index.ts";
import { type Charge, type Counts, giveBack, renew, settle } from "./admission.ts";
import { meanOf, type Use, usedOf } from "./amounts-of.ts";
import type { HiveAvailability } from "./availability.ts";
import type { Latencies } from "./latencies.ts";
import type { LeaseBook, LeaseEnds } from "./lease-book.ts";
import type { Observations } from "./observations.ts";
import type { Target } from "./target.ts";
import type { Wasted } from "./wasted.ts";

export interface LeaseEndsOptions {
  readonly clock: Clock;
  readonly counts: Counts;
  readonly availability: HiveAvailability;
  readonly latencies: Latencies;
  readonly wasted: Wasted;
  readonly observations: Observations | undefined;
  /** The calls that a hive has under way. */
  readonly leases: () => LeaseBook;
  /** Announces the refusal of a call. */
  readonly refused: (charge: Charge, refusal: Refusal, sent: SentAs, now: number) => void;
  /** Serves the waiters of a target. */
  readonly serve: (target: Target) => void;
  /** The subject of a diagnostic event. */
  readonly about: (target: Target) => OfResource;
}

/** The place of a call among the calls of this process, as evidence of availability. */
export type SentAs = Pick<Answer, "order" | "earlier">;

/** The effects of the end of a call: on its charge, on the knowledge of its endpoint, and on the waiters behind it. */
export class HiveLeaseEnds implements LeaseEnds {
  readonly #options: LeaseEndsOptions;

  constructor(options: LeaseEndsOptions) {
    this.#options = options;
  }

  usageOf({ use }: Charge, used: UsedTokens | undefined): Use {
    return used === undefined ? use : usedOf(used, use);
  }

  done(charge: Charge, used: Use, how: "done" | "expired"): void {
    const { clock, counts } = this.#options;
    const now = clock.now();
    settle(counts, charge, used, now);
    if (used !== charge.use) noteTypical(charge, used);
    if (how === "expired") this.#tell(charge, "none", "expired", undefined, now);
    else this.#answered(charge, now);
    this.#end(charge, how, used.tokens, now);
  }

  renewed(charge: Charge): void {
    renew(charge);
  }

  cancelled(charge: Charge): void {
    const now = this.#options.clock.now();
    this.#giveBack(charge, now);
    if (!charge.hasAnswer) this.#tell(charge, "none", "cancelled", undefined, now);
    this.#end(charge, "cancelled", 0, now);
  }

  checkRefusal(refusal: Refusal): void {
    checkRefusal(refusal?.reason, refusal);
    checkConcerns(refusal.concerns);
  }

  refused(charge: Charge, refusal: Refusal): void {
    const now = this.#options.clock.now();
    this.#giveBack(charge, now);
    this.#options.observations?.refused(charge.target.id, charge.decision === undefined);
    try {
      this.#options.refused(charge, refusal, this.#sentAs(charge, refusal.concerns), now);
    } finally {
      this.#end(charge, "refused", 0, now);
    }
  }

  checkFailure(failure: Failure): void {
    const { reason, concerns } = failure ?? {};
    if (typeof reason !== "string") throw new InvalidConfigError("reason", "a string", reason);
    checkConcerns(concerns);
  }

  failed(charge: Charge, failure: Failure, used: Use): void {
    const { reason, concerns, wasSent = true, byCaller = false } = failure;
    const now = this.#options.clock.now();
    if (wasSent) settle(this.#options.counts, charge, used, now);
    else this.#giveBack(charge, now);
    try {
      this.#tell(charge, byCaller ? "none" : "failure", reason, concerns, now);
    } finally {
      this.#end(charge, "failed", wasSent ? used.tokens : 0, now);
    }
  }

  answered(charge: Charge): void {
    this.#answered(charge, this.#options.clock.now());
  }

  #answered(charge: Charge, now: number): void {
    if (charge.hasAnswer) return;
    charge.hasAnswer = true;
    this.#options.latencies.add(charge.target.id, now - charge.sentAt, now);
    this.#tell(charge, "success", "a call succeeded", undefined, now);
  }

  #giveBack(charge: Charge, now: number): void {
    giveBack(this.#options.counts, charge, now);
    this.#options.wasted.add(charge.target, charge.use, now);
  }

  #sentAs(charge: Charge, concerns: Answer["concerns"]): SentAs {
    const model = concerns === "endpoint" ? undefined : charge.model;
    return { order: charge.order, earlier: this.#options.leases().earlier(charge, model, REMEMBERED) };
  }

  #tell(charge: Charge, outcome: Answer["outcome"], reason: string, concerns: Answer["concerns"], now: number): void {
    const { target, model, sentAt, isProbe, order } = charge;
    const sent = outcome === "failure" ? this.#sentAs(charge, concerns) : { order };
    this.#options.availability.answered(
      { endpoint: target.id, model, outcome, concerns, sentAt, ...sent, isProbe, retryAfterMs: undefined, reason },
      now,
    );
  }

  #end({ target, scopes, sentAt }: Charge, how: EndedEvent["how"], tokens: number, now: number): void {
    target.inFlight--;
    for (const { scope } of scopes) scope.inFlight--;
    try {
      if (ended.hasSubscribers) {
        const { source, agentId, resource, model } = this.#options.about(target);
        ended.publish({ source, agentId, resource, model, how, heldMs: now - sentAt, tokens });
      }
    } finally {
      // Waiters may need the slot of the ended call, or its refund.
      if (target.line) this.#options.serve(target);
    }
  }
}

/** Adds the reported usage of a call to the means of its target and of its model. */
function noteTypical({ target, model }: Charge, used: Use): void {
  target.typical = meanOf(target.typical, used);
  const ofModel = model === undefined ? undefined : target.byModel?.get(model);
  if (ofModel) ofModel.typical = meanOf(ofModel.typical, used);
}
