import {
  type Clock,
  InvalidConfigError,
  isHivepaceError,
  type RateDecision,
  type RateManager,
  type RateRequest,
  ResourceUnknownError,
  systemClock,
} from "@hivepace/core";
import { AMOUNT, checkKnown, isAmount, type OptionNames } from "@hivepace/core/internal";
import { Refusals } from "./refusals.ts";
import { type Full, freesFirst, leftAlone, roomOf, told, unavailable, waitRank } from "./room.ts";
import type {
  EndpointHealth,
  PassedOver,
  RouteRequest,
  Router,
  RouterOptions,
  RoutingDecision,
  RoutingStrategy,
} from "./router-types.ts";
import { bestRanked, bySession, fastest, leastUsed, type Open, roundRobin, weighted } from "./strategies.ts";
import { idsOf, tiersOf } from "./tiers.ts";
import { UnknownEndpoints } from "./unknown-endpoints.ts";

const DEFAULTS = { strategy: "least-used", refusedForMs: 1_000 } as const;
const STRATEGIES: readonly unknown[] = ["least-used", "round-robin", "weighted", "fastest"];

const OPTIONS = {
  manager: true,
  view: true,
  health: true,
  strategy: true,
  weights: true,
  refusedForMs: true,
  clock: true,
} as const satisfies OptionNames<RouterOptions>;

/**
 * Creates a router, which chooses among endpoints by session, capacity and strategy. Every decision is synchronous and
 * needs no I/O.
 */
export function createRouter(options: RouterOptions): Router {
  return new RoomRouter(options);
}

/** The router, with what only the hive needs. */
export class RoomRouter implements Router {
  readonly #manager: RateManager;
  readonly #view: RouterOptions["view"];
  readonly #health: EndpointHealth | undefined;
  readonly #strategy: RoutingStrategy;
  readonly #weights: ReadonlyMap<string, number>;
  readonly #refusedForMs: number;
  readonly #clock: Clock;
  readonly #refusals = new Refusals();
  readonly #unknown = new UnknownEndpoints();
  #turn = 0;

  constructor(options: RouterOptions) {
    checkKnown(options, OPTIONS);
    const { manager, view, health, strategy = DEFAULTS.strategy, weights = {} } = options;
    const { refusedForMs = DEFAULTS.refusedForMs, clock = systemClock } = options;
    if (typeof manager?.peek !== "function") throw new InvalidConfigError("manager", "a RateManager", manager);
    if (view !== undefined && typeof view?.others !== "function")
      throw new InvalidConfigError("view", "a GlobalView, or absent", view);
    checkStrategy(strategy);
    for (const [endpoint, weight] of Object.entries(weights))
      if (!(weight >= 0 && weight < Infinity))
        throw new InvalidConfigError(`weights.${endpoint}`, "a finite number of 0 or more", weight);
    if (!isAmount(refusedForMs)) throw new InvalidConfigError("refusedForMs", AMOUNT, refusedForMs);
    this.#manager = manager;
    this.#view = view;
    this.#health = health;
    this.#strategy = strategy;
    this.#weights = new Map(Object.entries(weights));
    this.#refusedForMs = refusedForMs;
    this.#clock = clock;
  }

  refused(endpoint: string, details: { retryAfterMs?: number | undefined; model?: string | undefined } = {}): void {
    const { retryAfterMs = this.#refusedForMs, model } = details;
    if (!(retryAfterMs >= 0 && retryAfterMs < Infinity))
      throw new InvalidConfigError("retryAfterMs", "a finite number of 0 or more", retryAfterMs);
    const now = this.#clock.now();
    this.#refusals.add(endpoint, model, now + retryAfterMs, now);
  }

  route(request: RouteRequest): RoutingDecision {
    const { candidates, session, strategy = this.#strategy } = request;
    const tiers = tiersOf(candidates, "candidates");
    if (strategy !== this.#strategy) checkStrategy(strategy);
    const survey = this.#survey(tiers, request);
    const { known } = survey;
    const passedOver = survey.full.map(told);
    const chosen = this.#choose(survey, tiers, request, strategy);
    if (!chosen) return allFull(passedOver);
    const { endpoint, utilization } = chosen;
    const how = session === undefined ? strategy : "session";
    const isMoved = how === "session" && passedOver.length > 0 && ownOf(known, session) !== endpoint;
    const reason = `${REASONS[isMoved ? "moved" : how]}, ${Math.round(utilization * 100)} % used`;
    return { endpoint, allowed: true, reason, utilization, passedOver, retryAfterMs: undefined };
  }

  /**
   * The candidates in the order in which `route` would choose them if each were denied: first those with capacity, then
   * those that have none, by their waits. Each candidate is examined once.
   */
  *inOrder(tiers: readonly (readonly string[])[], request: Omit<RouteRequest, "candidates">): Generator<InOrder> {
    const survey = this.#survey(tiers, request);
    for (;;) {
      const chosen = this.#choose(survey, tiers, request, this.#strategy);
      if (!chosen) break;
      yield chosen;
      survey.open.splice(survey.open.indexOf(chosen), 1);
    }
    yield* survey.full.sort((a, b) => waitRank(a) - waitRank(b));
  }

  /** Examines all candidates. */
  #survey(tiers: readonly (readonly string[])[], request: Omit<RouteRequest, "candidates">): Survey {
    const all = idsOf(tiers);
    const now = this.#clock.now();
    const open: Open[] = [];
    const full: Full[] = [];
    const known: string[] = [];
    for (const endpoint of all) {
      const room = this.#roomOf(endpoint, request, all, now);
      if (room === undefined) continue;
      known.push(endpoint);
      if ("by" in room) full.push(room);
      else open.push(room);
    }
    if (known.length < all.length) this.#warnUnknown(all, known);
    return { open, full, known };
  }

  /** Chooses among the open endpoints of the first tier that has any. Undefined when none is open. */
  #choose(
    { open }: Survey,
    tiers: readonly (readonly string[])[],
    { session }: Pick<RouteRequest, "session">,
    strategy: RoutingStrategy,
  ): Open | undefined {
    if (open.length === 0) return undefined;
    const tier = tiers.length === 1 ? (tiers[0] as readonly string[]) : firstOpen(tiers, open);
    const best = bestRanked(tiers.length === 1 ? open : open.filter(({ endpoint }) => tier.includes(endpoint)));
    const turn = this.#turn;
    if (session !== undefined) return best[bySession(best, session)];
    // Session-affine requests do not advance round-robin.
    this.#turn = (turn + 1) % Number.MAX_SAFE_INTEGER;
    return best[this.#indexBy(strategy, best, tier, turn)];
  }

  /** Returns undefined when the manager does not have the endpoint. */
  #roomOf(
    endpoint: string,
    request: Omit<RouteRequest, "candidates">,
    all: readonly string[],
    now: number,
  ): Open | Full | undefined {
    const { model, key, tokens, inputTokens, outputTokens, strategy = this.#strategy } = request;
    const local = this.#peek({ endpoint, model, key, tokens, inputTokens, outputTokens });
    if (local === undefined) return undefined;
    const room = roomOf(endpoint, tokens, local, this.#view?.others(endpoint, model));
    const refusedMs = this.#refusals.remainingMs(endpoint, model, now);
    const left = refusedMs > 0 ? leftAlone(room, Math.ceil(refusedMs)) : room;
    const health = this.#health;
    if (!health) return left;
    const isOther = (other: string) => other !== endpoint && health.obstacle(other, model, false) === undefined;
    const obstacle = health.obstacle(endpoint, model, false) && health.obstacle(endpoint, model, all.some(isOther));
    if (obstacle) return unavailable(left, obstacle);
    if ("by" in left) return left;
    const { utilization } = left;
    const load = utilization + health.wasted(endpoint, model);
    const latencyMs = strategy === "fastest" ? health.latencyMs(endpoint, model) : undefined;
    return { endpoint, utilization, rank: health.rank(endpoint, model), load, latencyMs };
  }

  #peek(request: RateRequest): RateDecision | undefined {
    try {
      return this.#manager.peek(request);
    } catch (error) {
      if (isHivepaceError(error, "RESOURCE_UNKNOWN")) return undefined;
      throw error;
    }
  }

  /** Warns once about each unknown candidate, and throws when no candidate is known. */
  #warnUnknown(candidates: readonly string[], known: readonly string[]): void {
    const all = [...new Set(this.#manager.snapshot({ keys: false }).endpoints.map(({ id }) => id))];
    if (known.length === 0) throw new ResourceUnknownError(candidates, "endpoint", all);
    for (const id of candidates) if (!known.includes(id)) this.#unknown.warn(id, all);
  }

  #indexBy(strategy: RoutingStrategy, open: readonly Open[], tier: readonly string[], turn: number): number {
    switch (strategy) {
      case "round-robin":
        return roundRobin(open, tier, turn);
      case "weighted":
        return weighted(open, (endpoint) => this.#weights.get(endpoint) ?? 1, turn);
      case "least-used":
        return leastUsed(open, turn);
      case "fastest":
        return fastest(open, turn);
    }
  }
}

/** A candidate, with the decision of this process where that denies the request. */
interface InOrder {
  readonly endpoint: string;
  readonly local?: RateDecision;
}

/** The candidates of a request with capacity, those without, and all that the manager knows. */
interface Survey {
  /** In the order of the candidates. */
  readonly open: Open[];
  readonly full: Full[];
  readonly known: readonly string[];
}

/** The first tier that has an open endpoint. */
function firstOpen(tiers: readonly (readonly string[])[], open: readonly Open[]): readonly string[] {
  const ids = new Set(open.map(({ endpoint }) => endpoint));
  return tiers.find((tier) => tier.some((id) => ids.has(id))) as readonly string[];
}

const REASONS = {
  session: "the session's endpoint has room",
  moved: "the session's own endpoint has no room, this is its next",
  "least-used": "the least used",
  "round-robin": "the next in turn",
  weighted: "the next by weight",
  fastest: "the fastest",
};

/** The endpoint of a session when all endpoints have capacity. */
function ownOf(known: readonly string[], session: string | undefined): string {
  const all = known.map((endpoint): Open => ({ endpoint, utilization: 0 }));
  return known[bySession(all, session as string)] as string;
}

function allFull(passedOver: readonly PassedOver[]): RoutingDecision {
  const { endpoint, retryAfterMs, why } = freesFirst(passedOver) as PassedOver;
  const when = retryAfterMs === undefined ? "waiting does not help" : `frees first, in ${retryAfterMs} ms`;
  const reason = `no candidate has room; this one ${when}: ${why}`;
  return { endpoint, allowed: false, reason, utilization: 1, passedOver, retryAfterMs };
}

function checkStrategy(strategy: unknown): void {
  if (!STRATEGIES.includes(strategy))
    throw new InvalidConfigError("strategy", '"least-used", "round-robin", "weighted" or "fastest"', strategy);
}
