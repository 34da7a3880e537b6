import { type Gate, type GateRequest, isHivepaceError, type Lease, type ResourceUnknownError } from "@hivepace/core";
import { warn } from "@hivepace/core/internal";
import { fail } from "./failure.ts";
import { endpointsOf } from "./route.ts";

/**
 * The fate of a call to an endpoint or model that the gate does not know. "pass": the call is sent without a limit. "limit": the call counts against the gate's only endpoint; of several,
 * against the first. "reject": the call is answered with status 400 and is not sent.
 */
export type UnknownPolicy = "pass" | "limit" | "reject";

export const UNKNOWN_POLICIES: readonly unknown[] = ["pass", "limit", "reject", undefined];

/** Warnings are bounded: hosts may come from user input. */
const MOST_WARNINGS = 100;

/** A lease, and the endpoint at which the gate counts it. */
export interface CountedLease {
  readonly lease: Lease;
  /** Undefined when the gate does not count the call. */
  readonly countedAt: string | undefined;
}

/** Asks a gate, and decides about calls that the gate does not know. */
export class KnownEndpoints {
  readonly #gate: Gate;
  readonly #policy: UnknownPolicy | undefined;
  readonly #warned = new Set<string>();

  constructor(gate: Gate, policy: UnknownPolicy | undefined) {
    this.#gate = gate;
    this.#policy = policy;
  }

  /**
   * Rejects as the gate does, but with RESOURCE_UNKNOWN only under the policy "reject". `counts` is called when the call
   * counts at another endpoint than its own, before it waits there.
   */
  async acquire(request: GateRequest, counts?: (endpoint: string) => void): Promise<CountedLease> {
    try {
      const lease = await this.#gate.acquire(request);
      return { lease, countedAt: lease.endpoint };
    } catch (error) {
      if (!isHivepaceError(error, "RESOURCE_UNKNOWN") || this.#policy === "reject") throw error;
      return this.#decide(request, error, counts);
    }
  }

  async #decide(
    request: GateRequest,
    { known = [] }: ResourceUnknownError,
    counts?: (endpoint: string) => void,
  ): Promise<CountedLease> {
    const asked = request.endpoint ?? endpointsOf(request.route ?? [])[0] ?? "";
    const [first] = known;
    const mayLimit = this.#policy === "limit" || (this.#policy === undefined && known.length === 1);
    if (mayLimit && first !== undefined && first !== asked) {
      try {
        counts?.(first);
        const lease = await this.#gate.acquire({ ...request, endpoint: first, route: undefined });
        // The call stays at its own host: the name of the other endpoint must not move it.
        return { lease: renamed(lease, asked), countedAt: first };
      } catch (error) {
        if (!isHivepaceError(error, "RESOURCE_UNKNOWN")) throw error;
      }
    }
    this.#warn(asked, request.model, known);
    return { lease: freeLease(asked, request.model), countedAt: undefined };
  }

  #warn(endpoint: string, model: string | undefined, known: readonly string[]): void {
    const isModel = known.includes(endpoint);
    const name = isModel ? `${endpoint}\0${model}` : endpoint;
    if (this.#warned.has(name) || this.#warned.size >= MOST_WARNINGS) return;
    this.#warned.add(name);
    const line = JSON.stringify({ id: endpoint, ...(isModel ? { model } : {}), rpmLimit: 60 });
    const advice = `add ${line} to the endpoints of the hive, with your limit, or set unknown: "pass"`;
    if (this.#policy === "pass") return;
    const subject = `${subjectOf(isModel, model)} ${JSON.stringify(endpoint)}`;
    warn("HIVEPACE_UNKNOWN_ENDPOINT", `${subject} are not limited: ${advice}`);
  }
}

function subjectOf(isModel: boolean, model: string | undefined): string {
  if (!isModel) return "calls to the endpoint";
  // Lists of models, uploads and the like name no model.
  if (model === undefined) return "calls without a model to the endpoint";
  return `calls to the model ${JSON.stringify(model)} of endpoint`;
}

/** Returns a lease of another endpoint that carries the endpoint name of the call. */
function renamed(lease: Lease, endpoint: string): Lease {
  return {
    endpoint,
    model: lease.model,
    done: (used) => lease.done(used),
    cancel: () => lease.cancel(),
    refused: (refusal) => lease.refused(refusal),
    failed: (failure) => fail(lease, failure),
    answered: () => lease.answered?.(),
    // Leases that never expire may lack `renew` in a gate that was written without types.
    renew: () => lease.renew?.(),
    [Symbol.dispose]: () => lease.done(),
  };
}

/** Returns a lease that no gate counts. */
function freeLease(endpoint: string, model: string | undefined): Lease {
  const nothing = (): void => undefined;
  return {
    endpoint,
    model,
    done: nothing,
    cancel: nothing,
    refused: nothing,
    failed: nothing,
    answered: nothing,
    renew: nothing,
    [Symbol.dispose]: nothing,
  };
}
