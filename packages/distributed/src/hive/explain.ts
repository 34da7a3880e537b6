import type { RateDecision } from "@hivepace/core";
import { type Agent, modeOf } from "../engine/agent.ts";
import { at } from "../engine/amounts.ts";
import { ownShare } from "../engine/own-share.ts";
import { capacityOf } from "../engine/room.ts";
import type { GlobalView } from "../global-view/view-types.ts";
import { levelStatus } from "../limiter/status.ts";
import { UNLIMITED } from "../wire/subjects.ts";
import { DIMENSIONS, type Use } from "./amounts-of.ts";
import type { HiveExplanation, HiveLimit } from "./hive-types.ts";
import { CONFIGURED } from "./limits.ts";
import type { Limited, Share, Target } from "./target.ts";

/** A request of one token. */
export const SMALL: Use = { requests: 1, tokens: 1, inputTokens: 1, outputTokens: 1 };
const WHOLE = { level: 1, cause: undefined, pausedForMs: 0 };

/** Explains a target. `denial` is the denial of a small request now, if there is one. */
export function explain(
  target: Target,
  model: string | undefined,
  agent: Agent,
  view: Pick<GlobalView, "get"> | undefined,
  denial: RateDecision | undefined,
  windowMs: number,
  now: number,
): Omit<HiveExplanation, "observed"> {
  const { id: endpoint, inFlight } = target;
  const ofModel = model === undefined ? undefined : target.byModel?.get(model);
  const main = ofModel?.shares[0] ?? target.shares[0];
  const level = main ? levelStatus(main.pool.level, now) : WHOLE;
  const limits = [
    ...closedOf(target, windowMs),
    ...[target, ...(ofModel ? [ofModel] : [])].flatMap((each) =>
      each.shares.flatMap((share) => limitsOf(each, share, agent, now)),
    ),
  ];
  const waiting = target.line?.size ?? 0;
  const freesInMs = denial ? (denial.retryAfterMs ?? Infinity) : 0;
  const parts = { endpoint, model, limits, ...level, waiting, inFlight, freesInMs, limitedBy: denial?.limitedBy };
  return { ...parts, text: tell(parts, denial, target, modeOf(agent, now)), global: view?.get(endpoint, model) };
}

/** Limits of 0, which let nothing through and are not shared. */
function closedOf({ count }: Target, windowMs: number): HiveLimit[] {
  const closed = DIMENSIONS.filter((dimension) => count[CONFIGURED[dimension]] === 0);
  return closed.map((dimension) => ({
    dimension,
    windowMs,
    limit: 0,
    isLearned: false,
    total: 0,
    used: 0,
    usedHere: 0,
    share: 0,
  }));
}

function limitsOf({ count }: Limited, share: Share, agent: Agent, now: number): HiveLimit[] {
  const { pool, dimensions } = share;
  const capacity = capacityOf(agent, pool, now);
  const own = ownShare(agent, pool, now);
  return dimensions.flatMap((dimension, i) => {
    const limit = at(pool.limits, i);
    if (limit >= UNLIMITED) return [];
    return {
      dimension,
      windowMs: pool.config.windowMs,
      limit,
      isLearned: count[CONFIGURED[dimension]] === Infinity,
      total: at(capacity, i),
      used: Math.max(0, at(pool.used.sum, i)),
      usedHere: Math.max(0, at(pool.own.sum, i)),
      share: at(own, i),
    };
  });
}

function tell(
  parts: Omit<HiveExplanation, "text" | "global" | "observed">,
  denial: RateDecision | undefined,
  { count }: Target,
  mode: string,
): string {
  const { endpoint, model, limits, level, cause, pausedForMs, waiting } = parts;
  const name = model === undefined ? endpoint : `${endpoint} (${model})`;
  const says: string[] = [];
  if (limits.length === 0 && count.maxInFlight === Infinity) says.push("has no limits that this agent knows of");
  const [fullest] = limits.filter(({ limit }) => limit > 0).sort((a, b) => b.used / b.total - a.used / a.total);
  if (fullest) {
    const { dimension, used, total, windowMs } = fullest;
    says.push(`${Math.round(used)} of ${Math.round(total)} ${WORDS[dimension]} used in the last ${windowMs / 1_000} s`);
  }
  if (cause && level < 1)
    says.push(
      `cut to ${Math.round(100 * level)} % ${Math.round(cause.agoMs / 1_000)} s ago by ${cause.agentId}: ${cause.reason}`,
    );
  if (pausedForMs > 0) says.push(`all pause for ${Math.ceil(pausedForMs)} ms`);
  if (mode === "listening") says.push("this agent is new and listens");
  if (mode === "cut-off") says.push("this agent does not hear the others and keeps to its part");
  if (waiting > 0) says.push(`${waiting} wait here`);
  says.push(whenOf(denial, count.maxInFlight));
  return `${name}: ${says.join("; ")}`;
}

/** The time at which a small request could be sent, and the limit that denies it until then. */
function whenOf(denial: RateDecision | undefined, maxInFlight: number): string {
  if (!denial) return "has room now";
  const { reason, limitedBy, retryAfterMs } = denial;
  if (reason === "too-large") return `lets nothing through: ${limitedBy} is 0`;
  if (reason === "in-flight") return `has no room until a call ends: ${limitedBy}, ${maxInFlight} are in flight`;
  return `may have room in ${retryAfterMs} ms: ${limitedBy}`;
}

const WORDS = {
  requests: "requests",
  tokens: "tokens",
  inputTokens: "input tokens",
  outputTokens: "output tokens",
};
