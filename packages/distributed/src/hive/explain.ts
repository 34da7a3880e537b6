import type { RateDecision } from "@hivepace/core";
import {
  type Agent,
  agentMode,
  at,
  capacityOf,
  ownUsageOf,
  shareOf,
  subWindowsOf,
  swarmUsageOf,
} from "../engine/index.ts";
import type { GlobalView } from "../global-view/view-types.ts";
import type { SlotStatus } from "../limiter/distributed-limiter.ts";
import { slotStatus } from "../limiter/slot-status.ts";
import { levelStatus } from "../limiter/status.ts";
import { UNLIMITED } from "../wire/subjects.ts";
import { DIMENSIONS, type Use } from "./amounts-of.ts";
import type { EndpointAvailability, HiveDimension, HiveExplanation, HiveLimit } from "./hive-types.ts";
import { CONFIGURED } from "./limits.ts";
import type { Limited, Share, Target } from "./target.ts";

/** The smallest request: one token. */
export const SMALL: Use = { requests: 1, tokens: 1, inputTokens: 1, outputTokens: 1 };
const WHOLE = { level: 1, cause: undefined, pausedForMs: 0 };

/** Explains a target. `denial` is the denial of a small request now; undefined when the request would be granted. */
export function explain(
  target: Target,
  model: string | undefined,
  agent: Agent,
  view: Pick<GlobalView, "get"> | undefined,
  denial: RateDecision | undefined,
  windowMs: number,
  availability: EndpointAvailability,
  now: number,
): Omit<HiveExplanation, "observed"> {
  const { id: endpoint, inFlight } = target;
  const ofModel = model === undefined ? undefined : target.byModel?.get(model);
  const main = ofModel?.shares[0] ?? target.shares[0];
  const slots = slotsOf(target, agent, now);
  const level = main ? levelStatus(main.quota.backoff.level, now) : WHOLE;
  const limits = [
    ...closedOf(target, windowMs),
    ...[target, ...(ofModel ? [ofModel] : [])].flatMap((each) =>
      each.shares.flatMap((share) => (share.isSlots ? [] : limitsOf(each, share, agent, now))),
    ),
  ];
  const waiting = target.line?.size ?? 0;
  const freesInMs = denial ? (denial.retryAfterMs ?? Infinity) : 0;
  const limitedBy = denial?.limitedBy;
  const parts = { endpoint, model, limits, ...level, availability, waiting, inFlight, slots, freesInMs, limitedBy };
  return { ...parts, text: tell(parts, denial, target, agentMode(agent, now)), global: view?.get(endpoint, model) };
}

/** The calls under way of a target that limits them. */
function slotsOf({ shares }: Limited, agent: Agent, now: number): SlotStatus | undefined {
  const share = shares.find(({ isSlots }) => isSlots);
  return share && slotStatus(agent, share.quota, now);
}

/** Limits of 0, which deny every request and are not shared. */
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

function limitsOf({ count, windows }: Limited, share: Share, agent: Agent, now: number): HiveLimit[] {
  const { quota, dimensions } = share;
  const capacity = capacityOf(agent, quota, now);
  const own = shareOf(agent, quota, now);
  const swarm = swarmUsageOf(quota, now);
  const here = ownUsageOf(quota, now);
  const whole = dimensions.flatMap((dimension, i) => {
    const limit = at(quota.limits, i);
    if (limit >= UNLIMITED) return [];
    return {
      dimension,
      windowMs: quota.config.windowMs,
      limit,
      isLearned: at(quota.config.limits, i) < count[CONFIGURED[dimension]] && !isFurther(windows, quota, dimension),
      total: at(capacity, i),
      used: Math.max(0, at(swarm, i)),
      usedHere: Math.max(0, at(here, i)),
      share: at(own, i),
    };
  });
  return [...whole, ...shorterOf(windows, share, own, now)];
}

/** True for a limit that is configured with a window of its own. */
function isFurther(windows: Limited["windows"], { config }: Share["quota"], dimension: HiveDimension): boolean {
  return windows.some((each) => each.windowMs === config.windowMs && each.dimension === dimension);
}

/** The limits over shorter windows, configured or learned. */
function shorterOf(
  windows: Limited["windows"],
  { quota, dimensions }: Share,
  own: readonly number[],
  now: number,
): HiveLimit[] {
  return subWindowsOf(quota, now).flatMap(({ windowMs, limits, swarm, own: here }) =>
    dimensions.flatMap((dimension, i) => {
      const limit = at(limits, i);
      if (limit === Infinity) return [];
      const isConfigured = windows.some((each) => each.windowMs === windowMs && each.dimension === dimension);
      return {
        dimension,
        windowMs,
        limit,
        isLearned: !isConfigured,
        total: limit,
        used: Math.max(0, at(swarm.sum, i)),
        usedHere: Math.max(0, at(here.sum, i)),
        share: (limit * at(own, i)) / at(quota.limits, i),
      };
    }),
  );
}

function tell(
  parts: Omit<HiveExplanation, "text" | "global" | "observed">,
  denial: RateDecision | undefined,
  { count }: Target,
  mode: string,
): string {
  const { endpoint, model, limits, level, cause, pausedForMs, availability, waiting, slots } = parts;
  const name = model === undefined ? endpoint : `${endpoint} (${model})`;
  const says: string[] = [];
  if (limits.length === 0 && !slots && count.maxInFlightPerProcess === Infinity)
    says.push("has no limits that this agent knows of");
  const [fullest] = limits.filter(({ limit }) => limit > 0).sort((a, b) => b.used / b.total - a.used / a.total);
  if (fullest) {
    const { dimension, used, total, windowMs } = fullest;
    says.push(`${Math.round(used)} of ${Math.round(total)} ${WORDS[dimension]} used in the last ${windowMs / 1_000} s`);
  }
  for (const { limit, dimension, windowMs } of limits.filter(isSpread))
    says.push(`spread over ${windowMs / 1_000} s: at most ${limit} ${WORDS[dimension]} in that time`);
  if (slots) {
    const { used, limit, departed, longest } = slots;
    const gone = departed > 0 ? `, ${departed} of them of agents that are gone` : "";
    says.push(`${used} of ${limit} calls under way${gone}`);
    if (longest) says.push(`${longest.agentId} has held a slot for ${Math.round(longest.heldMs / 1_000)} s`);
  }
  if (cause && level < 1)
    says.push(
      `cut to ${Math.round(100 * level)} % ${Math.round(cause.agoMs / 1_000)} s ago by ${cause.agentId}: ${cause.reason}`,
    );
  if (pausedForMs > 0) says.push(`all pause for ${Math.ceil(pausedForMs)} ms`);
  const { state, reason: why, agentId, isLocal, isProbing } = availability;
  if (state !== "available") {
    const subject = availability.model === undefined ? "" : `model ${availability.model} `;
    says.push(`${subject}${state}${isLocal ? " for this agent alone" : ""}: ${why} (${agentId})`);
    if (isProbing) says.push("a call is trying it now");
  }
  if (mode === "joining") says.push("this agent is new and listens");
  if (mode === "isolated") says.push("this agent does not hear the others and keeps to its part");
  if (waiting > 0) says.push(`${waiting} wait here`);
  says.push(whenOf(denial, count.maxInFlightPerProcess));
  return `${name}: ${says.join("; ")}`;
}

/** True for a limit that refusals have shown to hold over a window shorter than the configured one. */
function isSpread({ dimension, windowMs, isLearned }: HiveLimit, _: number, all: readonly HiveLimit[]): boolean {
  return isLearned && all.some((other) => other.dimension === dimension && other.windowMs > windowMs);
}

/** Describes when a small request could be sent, and the limit that denies it until then. */
function whenOf(denial: RateDecision | undefined, maxInFlightPerProcess: number): string {
  if (!denial) return "has room now";
  const { reason, limitedBy, retryAfterMs } = denial;
  if (reason === "unavailable")
    return retryAfterMs === undefined ? "is closed until it is unparked" : `may be called in ${retryAfterMs} ms`;
  if (reason === "too-large") return `lets nothing through: ${limitedBy} is 0`;
  if (limitedBy === "paused") return "sends nothing until resume() is called: this process is paused";
  if (limitedBy === "swarm-in-flight")
    return `may have room in about ${retryAfterMs} ms, when a call ends: ${limitedBy}`;
  if (reason === "in-flight")
    return `has no room until a call ends: ${limitedBy}, ${maxInFlightPerProcess} are in flight`;
  return `may have room in ${retryAfterMs} ms: ${limitedBy}`;
}

const WORDS = {
  requests: "requests",
  tokens: "tokens",
  inputTokens: "input tokens",
  outputTokens: "output tokens",
};
