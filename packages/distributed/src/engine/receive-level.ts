import { hash32 } from "../hash.ts";
import { type Agent, ignore } from "./agent.ts";
import { EPOCHS_AHEAD, type Level, levelAt, merge, withAges, withLongerPause } from "./level.ts";
import { agentMode } from "./modes/mode-of.ts";
import type { Backoff, Quota } from "./quota.ts";
import { noteChange, reportBy } from "./schedule.ts";

/** Number of heartbeats for which an epoch far ahead must be repeated before it is accepted. */
const CREDIBLE_AFTER = 2;

/** Largest time by which unsigned messages may make a known cut older: transit times differ. */
const MOST_SHIFT_MS = 3_000;

/**
 * Merges a level with ages instead of times, from a peer, an announcement or the store. Only a trusted source may raise
 * the level above the present one, because an unsigned message may come from an attacker.
 */
export function receiveLevel(
  agent: Agent,
  quota: Quota,
  received: Level,
  now: number,
  mayRaise = agent.config.isSigned === true,
): void {
  if (received.epoch < 1) return;
  if (!isCredible(agent, quota, received.epoch, now)) {
    ignore(agent, "epoch far ahead");
    return;
  }
  const { backoff } = quota;
  const before = backoff.level;
  const timed = withAges(mayRaise ? received : loweredClimb(received, levelAt(before, now)), now);
  const later = merge(before, timed);
  const level = withLongerPause(later, later === timed ? before : timed);
  if (level === before) return;
  if (!mayRaise && isRaised(backoff, level, now)) {
    ignore(agent, "raised level");
    return;
  }
  const isNews =
    level.spread?.windowMs !== before.spread?.windowMs ||
    level.epoch !== before.epoch ||
    level.pauseCount !== before.pauseCount ||
    level.pauseMs !== before.pauseMs;
  backoff.level = level;
  agent.agenda.capacityVersion++;
  if (!isNews) return;
  backoff.learnedCutAt = level.cutAt;
  backoff.knownAt = now;
  noteChange(agent, quota, now);
  // A few agents relay the level, in case the message was lost. All agents relaying at once would flood the bus.
  const { epoch, pauseCount } = level;
  const fraction = hash32(`${agent.config.id} ${epoch} ${pauseCount}`) / 2 ** 32;
  if (fraction * agent.membership.members < 4) reportBy(agent, quota, now + agent.config.tuning.gapMs / 2, 0, true);
}

/** Clamps the climb to the present level: a stranger could otherwise undo a cut by a smaller one. */
function loweredClimb(level: Level, present: number): Level {
  const { climb, levelAtCut } = level;
  if (!climb || climb.good <= present) return level;
  return { ...level, climb: { ...climb, good: Math.max(levelAtCut, present) } };
}

/** True when a level is higher than the present one, apart from the transit times of the same cut. */
function isRaised({ level: before, learnedCutAt }: Backoff, level: Level, now: number): boolean {
  // Without a cut there is nothing to undo. Above 1, a level rises only as far as this agent's own options allow.
  if (before.epoch === 0) return false;
  if (level.epoch === before.epoch && level.levelAtCut === before.levelAtCut)
    return level.cutAt < Math.min(before.cutAt, learnedCutAt - MOST_SHIFT_MS);
  return levelAt(level, now) > levelAt(before, now) + 1e-9;
}

/**
 * True when an epoch may be accepted. A single message must not move an agent thousands of epochs ahead, because a forged
 * one would separate it from all peers. A joining agent, and one to which the quota is new, cannot know how many cuts it
 * missed and accepts any epoch. Other agents accept a distant epoch once it has been repeated, so that agents with an honest
 * gap always converge.
 */
function isCredible(agent: Agent, { backoff, history }: Quota, epoch: number, now: number): boolean {
  const isFar = (from: number) => epoch > from + EPOCHS_AHEAD;
  if (!isFar(backoff.level.epoch) || now <= history.configuredAt || agentMode(agent, now) === "joining") {
    backoff.farAhead = undefined;
    return true;
  }
  const { farAhead } = backoff;
  if (!farAhead || epoch < farAhead.epoch || isFar(farAhead.epoch)) {
    backoff.farAhead = { epoch, since: now };
    return false;
  }
  return now - farAhead.since >= CREDIBLE_AFTER * agent.config.tuning.heartbeatMs;
}
