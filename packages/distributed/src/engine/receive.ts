import { hash32 } from "../hash.ts";
import { mergeLimit } from "./adaptive-limit.ts";
import { touch } from "./agenda.ts";
import { type Agent, ignore, type Peer } from "./agent.ts";
import { at, fits, isEqual, isZero } from "./amounts.ts";
import { receiveAvailability, welcomeWithAvailability } from "./availability/share.ts";
import { setClaim } from "./claim.ts";
import { makePlace } from "./crowding.ts";
import { noteEchoed } from "./delay.ts";
import { keepSnapshot } from "./join-snapshot.ts";
import { answerClaim, releaseLate } from "./late-peers.ts";
import { noteReceived } from "./loss.ts";
import { addMember, depart, dropClaims, effectiveLimits, lowerLimits } from "./membership.ts";
import type { ClaimReport, Message, QuotaReport } from "./message.ts";
import { agentMode } from "./modes/mode-of.ts";
import { noteCost } from "./pacing.ts";
import { attributeJoinUsage, countedUsage, countPeerUsage } from "./peer-usage.ts";
import { projected } from "./projection.ts";
import type { PeerQuota, Quota } from "./quota.ts";
import { receiveLevel } from "./receive-level.ts";
import { refresh } from "./refresh.ts";
import { rememberReport } from "./remembered-reports.ts";
import { repeatsOf, reportBy } from "./schedule.ts";
import { announceFreed, countDeparted, countPeerSlots } from "./slots.ts";
import { isQuiet } from "./store-mode.ts";
import {
  boundedLevel,
  boundedNextMs,
  boundedReport,
  boundedVirtualTime,
  continues,
  contradictionOf,
  isEstablished,
  outdated,
  outrunning,
} from "./trust.ts";
import { isBefore } from "./virtual-time.ts";

/**
 * Receives a message of a peer, or an echo of an own one. Returns true when the message changes this agent's knowledge;
 * most messages only repeat known state.
 */
export function receive(agent: Agent, message: Message, now: number): boolean {
  const { id, incarnation, tuning } = agent.config;
  const { link, membership } = agent;
  const wasIsolated = agentMode(agent, now) === "isolated";
  const isOwn = message.id === id && message.incarnation === incarnation;
  const contradiction = contradictionOf(message);
  if (contradiction) {
    ignore(agent, contradiction);
    return false;
  }
  let isNews = isOwn && message.seq > link.echoedSeq;
  link.receivedAt = now;
  link.unansweredSince = Infinity;
  if (isOwn) {
    link.echoedSeq = Math.max(link.echoedSeq, message.seq);
    link.unechoedSince = Infinity;
    noteEchoed(agent, message.seq, now);
  }
  if (wasIsolated && agentMode(agent, now) !== "isolated") {
    rejoin(agent, now);
    isNews = true;
  }
  if (isOwn) return isNews;
  if (message.store && agent.store) agent.store.peersInStoreAt = now;
  if (isQuiet(agent, now)) {
    receiveInStoreMode(agent, message, now);
    if (message.availability) receiveAvailability(agent, undefined, message.availability, now);
    return true;
  }
  const peer = senderOf(agent, message, now);
  if (!peer) return isNews;
  membership.hasHeard = true;
  if (peer.id === id && now - peer.firstReceivedAt > 3 * tuning.heartbeatMs) agent.duplicateSeenAt = now;
  const silentMs = now - peer.receivedAt;
  noteReceived(agent, peer.seq === 0 ? 0 : message.seq - peer.seq - 1);
  peer.seq = message.seq;
  peer.receivedAt = now;
  isNews = releaseLate(agent, peer, now) || isNews;
  peer.nextMs = boundedNextMs(agent, message, now);
  if (silentMs > gapMsOf(agent, peer)) peer.continuousSince = now;
  peer.staleCount = 0;
  if (peer.state === "live") membership.weights += message.weight - peer.weight;
  peer.weight = message.weight;
  peer.observes = message.observes === true;
  peer.echoMs = message.echoMs ?? 0;
  if (peer.state !== "live") {
    addMember(agent, peer);
    isNews = true;
  }
  if (message.members >= membership.reportedMembers || now >= membership.reportedMembersUntil) {
    membership.reportedMembers = message.members;
    membership.reportedMembersUntil = now + tuning.suspectAfterHeartbeats * tuning.heartbeatMs;
  }
  const isNewcomer = message.upMs < 2 * tuning.heartbeatMs;
  for (const report of message.quotas) {
    const quota = agent.quotas.get(report.name);
    if (quota) {
      refresh(agent, quota, now);
      touch(agent.agenda, quota);
    }
    isNews = receiveReport(agent, peer, report, message.upMs, now) || isNews;
  }
  if (message.availability) isNews = receiveAvailability(agent, peer, message.availability, now) || isNews;
  if (message.bye) {
    peer.byeSeq = message.seq;
    peer.hasLeft = !message.isUnproven;
    if (peer.hasLeft) depart(agent, peer, now);
    else dropClaims(agent, peer);
  } else if (isNewcomer) {
    welcome(agent, peer, now);
    welcomeWithAvailability(agent, peer.key, now);
  }
  return isNews || isNewcomer || message.bye;
}

/**
 * Processes a message in store mode, where only levels are taken from the bus. A few agents inform a peer that
 * broadcasts that the swarm uses a store.
 */
function receiveInStoreMode(agent: Agent, message: Message, now: number): void {
  for (const { name, level } of message.quotas) {
    const quota = agent.quotas.get(name);
    if (quota && level) receiveLevel(agent, quota, boundedLevel(agent, quota, level), now);
  }
  const { store, membership, config } = agent;
  const [first] = agent.quotas.values();
  if (!store || !first || message.store || now - store.spokeAt < 5 * config.tuning.heartbeatMs) return;
  if (fractionOf(`${config.id} ${message.id} ${message.seq}`) * membership.members >= 4) return;
  store.spokeAt = now;
  reportBy(agent, first, now, 0, true);
}

/** Ends an isolation: the agent joins again, to learn the events it missed. */
function rejoin(agent: Agent, now: number): void {
  agent.joinedAt = now;
  for (const quota of agent.quotas.values()) {
    quota.isolation.budget = undefined;
    reportBy(agent, quota, now, repeatsOf(agent, quota));
  }
}

/** The peer that sent a message; undefined when the message is out of date. Each incarnation of an agent is its own peer. */
function senderOf(agent: Agent, message: Message, now: number): Peer | undefined {
  const { id, incarnation, seq } = message;
  const { peers, newest } = agent.membership;
  const before = newest.get(id);
  const known = knownPeer(agent, message);
  if (known) {
    const reason = seq > known.seq ? outrunning(agent, known, seq, now) : outdated(agent, known, seq, now);
    if (reason) ignore(agent, reason);
    return reason ? undefined : known;
  }
  makePlace(agent);
  // A new incarnation shows that the previous one has ended. A previous one that is still running counts as live again
  // with its next message.
  if (before && before.incarnation < incarnation) {
    const heardNobody = agentMode(agent, now) === "isolated" || agent.joinedAt > before.receivedAt;
    if (heardNobody && before.state === "silent") before.endedAt = now;
    else depart(agent, before, now);
  }
  const peer: Peer = {
    key: `${id} ${incarnation}`,
    id,
    incarnation,
    seq: 0,
    firstReceivedAt: now,
    firstUpMs: message.upMs,
    isSuccessor: before !== undefined && before.incarnation < incarnation,
    receivedAt: now,
    continuousSince: now,
    nextMs: 0,
    weight: 1,
    observes: false,
    echoMs: 0,
    state: "silent",
    isLate: false,
    hasLeft: false,
    byeSeq: 0,
    staleSeq: 0,
    staleCount: 0,
    endedAt: -Infinity,
    quotas: new Map(),
    remembered: new Map(),
    answers: new Map(),
  };
  peers.set(peer.key, peer);
  if (!before || before.incarnation < incarnation) newest.set(id, peer);
  return peer;
}

/** The peer that sent a message, if it is known. Most messages come from the newest incarnation of an agent. */
function knownPeer({ membership: { newest, peers } }: Agent, { id, incarnation }: Message): Peer | undefined {
  const latest = newest.get(id);
  return latest?.incarnation === incarnation ? latest : peers.get(`${id} ${incarnation}`);
}

/**
 * Schedules reports with join snapshots for a newcomer, at a different time for each agent. Where nothing was used, a
 * few agents report nevertheless, so that the newcomer learns that it is not alone.
 */
function welcome(agent: Agent, newcomer: Peer, now: number): void {
  const { id, tuning } = agent.config;
  const fraction = fractionOf(`${id} ${newcomer.key}`);
  const isOneOfFew = fraction * agent.membership.members < 8 && now - agent.startedAt > 2 * tuning.heartbeatMs;
  for (const quota of agent.quotas.values()) {
    const { usage, backoff, reporting } = quota;
    refresh(agent, quota, now);
    const hasHistory = !isZero(usage.swarm.sum) || backoff.level.epoch > 0;
    if (now < reporting.welcomeUntil || !(hasHistory || isOneOfFew)) continue;
    reporting.welcomeUntil = now + 2.5 * tuning.heartbeatMs;
    reportBy(agent, quota, now + fraction * tuning.heartbeatMs * 0.5, 1);
  }
}

/** A few agents report soon after a message that was too old, so that a sender with a slow clock learns the swarm's time. */
export function answerOutdated(agent: Agent, now: number): boolean {
  const { id, incarnation, tuning } = agent.config;
  const [first] = agent.quotas.values();
  if (!first || now < agent.link.answeredAt + tuning.heartbeatMs) return false;
  agent.link.answeredAt = now;
  const fraction = fractionOf(`${id} ${incarnation} ${Math.floor(now)}`);
  if (fraction * agent.membership.members >= 8) return false;
  reportBy(agent, first, now + fraction * tuning.heartbeatMs * 0.25, 1);
  return true;
}

/** Receives one report. `now` lies in the past for a remembered report. Returns true when the report contains news. */
export function receiveReport(agent: Agent, peer: Peer, sent: QuotaReport, upMs: number, now: number): boolean {
  const quota = agent.quotas.get(sent.name);
  // A claim on a quota that this agent does not have, or has with other limits, keeps it awake, too: its part stays free
  // unless it shows that it can be reached.
  if (sent.claim) agent.link.claimedAt = Math.max(agent.link.claimedAt, now);
  if (!quota) {
    rememberReport(agent, peer, sent, upMs, now);
    return false;
  }
  const received = boundedReport(agent, quota, sent, isEstablished(peer, upMs, quota.config.windowMs));
  let known = peer.quotas.get(received.name);
  const before = known && continues(received, known.receivedReport) ? known.report : undefined;
  const report = received.windowMs === quota.config.windowMs ? projected(quota.config, received, before) : undefined;
  if (!report) {
    ignore(agent, "other limits");
    return false;
  }
  if (!quota.slots && !known && upMs >= now - agent.joinedAt) attributeJoinUsage(agent.joinedAt, quota, report, now);
  const isGap = !known || isAfterGap(agent, peer, known, now);
  const counted = countedUsage(agent, quota, known);
  let isNews = !quota.slots && countPeerUsage(agent, quota, counted, before, report, isGap || !before, now);
  const claim = peer.state === "live" ? possibleClaim(agent, quota, report.claim) : undefined;
  const previousLimits = known?.report.limits;
  if (known) {
    known.report = report;
    known.receivedReport = received;
    known.reportedAt = now;
    known.nextMs = peer.nextMs;
    known.heldBudget = undefined;
    known.counted = counted;
  } else {
    known = {
      report,
      receivedReport: received,
      claim: undefined,
      reportedAt: now,
      nextMs: peer.nextMs,
      heldBudget: undefined,
      claimedAt: -Infinity,
      slots: 0,
      slotsUntil: -Infinity,
      counted,
    };
    peer.quotas.set(report.name, known);
  }
  if (quota.slots) isNews = receiveSlots(agent, quota, peer, known, now) || isNews;
  isNews = receiveClaim(agent, quota, known, claim, now) || isNews;
  if (!previousLimits) lowerLimits(agent, quota, report.limits);
  else if (!isEqual(report.limits, previousLimits)) {
    effectiveLimits(agent, quota);
    isNews = true;
  }
  const { history, claims, backoff } = quota;
  if (upMs < report.windowMs) history.newcomersUntil = Math.max(history.newcomersUntil, now + report.windowMs - upMs);
  claims.virtualTime.swarm = Math.max(
    claims.virtualTime.swarm,
    boundedVirtualTime(agent, quota, report.virtualTime, now),
  );
  const { level } = backoff;
  if (report.level) receiveLevel(agent, quota, report.level, now);
  if (report.joinSnapshot && agentMode(agent, now) === "joining")
    keepSnapshot(quota, { at: now, upMs, bins: report.joinSnapshot });
  return isNews || level !== backoff.level;
}

/** Time between two messages of a peer after which some of them may be lost. */
function gapMsOf({ config }: Agent, { nextMs }: Peer): number {
  return 2 * Math.max(config.tuning.heartbeatMs, nextMs);
}

/**
 * True when reports of a peer may be lost since the last one. A peer with many quotas reports one that it has used, and that
 * has not changed, as rarely as an idle agent does.
 */
function isAfterGap(agent: Agent, peer: Peer, { reportedAt, report }: PeerQuota, now: number): boolean {
  const unreportedMs = now - reportedAt;
  if (unreportedMs <= gapMsOf(agent, peer)) return false;
  const isLost = reportedAt < peer.continuousSince || unreportedMs > 2 * agent.config.tuning.idleHeartbeatMs;
  return isLost || isZero(report.used);
}

/** Counts the slots that a peer holds and, while this agent joins, those that it reports of departed agents. */
function receiveSlots(agent: Agent, quota: Quota, peer: Peer, known: PeerQuota, now: number): boolean {
  const { departed, departedMs } = known.report;
  if (departed && departedMs && now < agent.joinedAt + quota.config.windowMs)
    countDeparted(quota, Math.min(departed, at(quota.config.limits, 0)), now + departedMs, now);
  const { adaptive } = known.report;
  const isChanged =
    adaptive !== undefined && mergeLimit(quota, { ...adaptive, changedAt: now - adaptive.changedAt }, now);
  return countPeerSlots(quota, peer, known, known.report, now) || isChanged;
}

/** Replaces a peer's claim. Returns true when it differs from the previous one, or shows contention for the first time. */
function receiveClaim(
  agent: Agent,
  quota: Quota,
  known: PeerQuota,
  claim: ClaimReport | undefined,
  now: number,
): boolean {
  const { claims, usage, reporting, pacing } = quota;
  if (claim && claim.tie !== known.claim?.tie) {
    known.claimedAt = now;
    answerClaim(agent, quota, claim.amounts, now);
  }
  const isChanged = setClaim(quota, known, claim);
  // A peer whose claim comes first holds nothing free for the own claim, so it must know how much of the own claim is
  // used already.
  if (isChanged && claim && claims.own && isBefore(claim, claims.own) && usage.sentAt > reporting.reportedAt)
    reportBy(agent, quota, now, repeatsOf(agent, quota));
  if (isChanged) announceFreed(agent, quota, now);
  if (!claim) return isChanged;
  noteCost(quota, claim.next);
  const { contendedMs, heartbeatMs } = agent.config.tuning;
  if (claim.waitedMs <= contendedMs) return isChanged;
  const isNew = pacing.contendedUntil <= now;
  pacing.contendedUntil = now + 2 * heartbeatMs;
  return isChanged || isNew;
}

/** The claim, unless it exceeds the limit: such a claim could never be served and would block all others. */
function possibleClaim(agent: Agent, { limits }: Quota, claim: ClaimReport | undefined): ClaimReport | undefined {
  if (!claim || fits(claim.amounts, limits)) return claim;
  ignore(agent, "impossible claim");
  return undefined;
}

/** A number from 0 to 1 derived from a text, so that agents act at different times and runs repeat exactly. */
function fractionOf(text: string): number {
  return hash32(text) / 2 ** 32;
}
