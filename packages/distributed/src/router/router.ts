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
import { AMOUNT, isAmount } from "@hivepace/core/internal";
import { Refusals } from "./refusals.ts";
import { freesFirst, leftAlone, roomOf } from "./room.ts";
import type {
  PassedOver,
  RouteRequest,
  Router,
  RouterOptions,
  RoutingDecision,
  RoutingStrategy,
} from "./router-types.ts";
import { bySession, leastUsed, type Open, roundRobin, weighted } from "./strategies.ts";
import { UnknownEndpoints } from "./unknown-endpoints.ts";

const DEFAULTS = { strategy: "least-used", refusedForMs: 1_000 } as const;
const STRATEGIES: readonly unknown[] = ["least-used", "round-robin", "weighted"];

/** Chooses among endpoints: by session, by room, in turns. Everything is decided here and now, without any I/O. */
export function createRouter(options: RouterOptions): Router {
  return new RoomRouter(options);
}

class RoomRouter implements Router {
  readonly #manager: RateManager;
  readonly #view: RouterOptions["view"];
  readonly #strategy: RoutingStrategy;
  readonly #weights: ReadonlyMap<string, number>;
  readonly #refusedForMs: number;
  readonly #clock: Clock;
  readonly #refusals = new Refusals();
  readonly #unknown = new UnknownEndpoints();
  #turn = 0;

  constructor(options: RouterOptions) {
    const { manager, view, strategy = DEFAULTS.strategy, weights = {} } = options;
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
    if (!Array.isArray(candidates) || candidates.length === 0)
      throw new InvalidConfigError("candidates", "a list of one or more endpoints", candidates);
    if (strategy !== this.#strategy) checkStrategy(strategy);
    const now = this.#clock.now();
    const open: Open[] = [];
    const passedOver: PassedOver[] = [];
    const known: string[] = [];
    for (const endpoint of candidates) {
      const room = this.#roomOf(endpoint, request, now);
      if (room === undefined) continue;
      known.push(endpoint);
      if ("by" in room) passedOver.push(room);
      else open.push(room);
    }
    if (known.length < candidates.length) this.#tellUnknown(candidates, known);
    if (open.length === 0) return allFull(passedOver);
    const turn = this.#turn;
    const how = session === undefined ? strategy : "session";
    // A session's requests are nobody's turn.
    if (session === undefined) this.#turn = (turn + 1) % Number.MAX_SAFE_INTEGER;
    const { endpoint, utilization } = open[this.#choose(how, open, request, turn)] as Open;
    const isMoved = how === "session" && passedOver.length > 0 && ownOf(known, session) !== endpoint;
    const reason = `${REASONS[isMoved ? "moved" : how]}, ${Math.round(utilization * 100)} % used`;
    return { endpoint, allowed: true, reason, utilization, passedOver, retryAfterMs: undefined };
  }

  /** Undefined when the manager does not have the endpoint. */
  #roomOf(endpoint: string, request: RouteRequest, now: number): Open | PassedOver | undefined {
    const { model, key, tokens, inputTokens, outputTokens } = request;
    const local = this.#peek({ endpoint, model, key, tokens, inputTokens, outputTokens });
    if (local === undefined) return undefined;
    const room = roomOf(endpoint, tokens, local, this.#view?.others(endpoint, model));
    const refusedMs = this.#refusals.remainingMs(endpoint, model, now);
    return refusedMs > 0 ? leftAlone(room, Math.ceil(refusedMs)) : room;
  }

  #peek(request: RateRequest): RateDecision | undefined {
    try {
      return this.#manager.peek(request);
    } catch (error) {
      if (isHivepaceError(error, "RESOURCE_UNKNOWN")) return undefined;
      throw error;
    }
  }

  /** Throws when no candidate is known; warns once of each that is not. */
  #tellUnknown(candidates: readonly string[], known: readonly string[]): void {
    const all = [...new Set(this.#manager.snapshot({ keys: false }).endpoints.map(({ id }) => id))];
    if (known.length === 0) throw new ResourceUnknownError(candidates, "endpoint", all);
    for (const id of candidates) if (!known.includes(id)) this.#unknown.warn(id, all);
  }

  #choose(how: RoutingStrategy | "session", open: readonly Open[], request: RouteRequest, turn: number): number {
    switch (how) {
      case "session":
        return bySession(open, request.session as string);
      case "round-robin":
        return roundRobin(open, request.candidates, turn);
      case "weighted":
        return weighted(open, (endpoint) => this.#weights.get(endpoint) ?? 1, turn);
      case "least-used":
        return leastUsed(open, turn);
    }
  }
}

const REASONS = {
  session: "the session's endpoint has room",
  moved: "the session's own endpoint has no room, this is its next",
  "least-used": "the least used",
  "round-robin": "the next in turn",
  weighted: "the next by weight",
};

/** Whom the session goes to when all have room. */
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
    throw new InvalidConfigError("strategy", '"least-used", "round-robin" or "weighted"', strategy);
}
