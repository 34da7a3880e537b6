import type { Agent } from "../agent.ts";
import { announceTrouble, close, open, releaseProbe } from "./change.ts";
import { type Entry, findEntry, useEntry } from "./entries.ts";
import {
  addAccepted,
  addOwnSign,
  addOwnTrouble,
  addSign,
  isBroken,
  isOverloaded,
  type SentCall,
  type Sign,
} from "./evidence.ts";
import { closedUntil, isClosed, LONGEST_PARK_MS } from "./register.ts";

/** The end of a call, as evidence of the availability of its endpoint. */
export interface Answer {
  readonly endpoint: string;
  readonly model: string | undefined;
  /**
   * - `success`, and `limited` (a rate limit): the endpoint works
   * - `overload`, `failure`, `quota`: the endpoint or the model is in trouble
   * - `none`: the call was never sent, or its end is unknown
   */
  readonly outcome: "success" | "limited" | "overload" | "failure" | "quota" | "none";
  readonly concerns: "model" | "endpoint" | undefined;
  readonly sentAt: number;
  /** The number of the call in the order in which this agent has sent its calls; undefined for reports without a call. */
  readonly order?: number | undefined;
  /** The latest calls to the endpoint, or to the model where it is concerned, that were sent earlier and are under way. */
  readonly earlier?: readonly SentCall[] | undefined;
  /** The call was sent through a half-open endpoint. */
  readonly isProbe: boolean;
  readonly retryAfterMs?: number | undefined;
  readonly reason: string;
}

const STATES = { overload: "overloaded", failure: "broken", quota: "parked" } as const;
const CAUSES = { overload: "overload", failure: "failures", quota: "quota" } as const;
type Trouble = keyof typeof STATES;

/** Counts an answer as evidence, and changes the state when the evidence suffices. */
export function applyAnswer(agent: Agent, answer: Answer, now: number): void {
  const { endpoint, model, outcome, concerns, isProbe } = answer;
  if (outcome === "none") {
    if (isProbe)
      for (const entry of entriesOf(agent, endpoint, model))
        if (isOwnProbe(agent, entry, now)) releaseProbe(agent, entry, now);
    return;
  }
  const whole = useEntry(agent, endpoint, undefined, now);
  const ofModel = model === undefined ? undefined : useEntry(agent, endpoint, model, now);
  const isAlive = outcome === "success" || outcome === "limited";
  const concerned = concerns === "endpoint" || !ofModel ? whole : ofModel;
  for (const entry of [whole, ofModel]) {
    if (!entry) continue;
    if (isAlive || (entry === whole && entry !== concerned)) noteAlive(agent, entry, answer, now);
    else if (entry === concerned) noteTrouble(agent, entry, answer, outcome, now);
    // A failure of the whole endpoint is no evidence about the model.
    else if (isProbe && isOwnProbe(agent, entry, now)) releaseProbe(agent, entry, now);
  }
}

function entriesOf(agent: Agent, endpoint: string, model: string | undefined): Entry[] {
  const entries = [
    findEntry(agent, endpoint, undefined),
    model === undefined ? undefined : findEntry(agent, endpoint, model),
  ];
  return entries.filter((entry) => entry !== undefined);
}

/** True while this agent's own probe of the entry is under way. */
function isOwnProbe(agent: Agent, { register }: Entry, now: number): boolean {
  return isClosed(register, now) && register.probes > 0 && register.prober === agent.config.id;
}

function noteAlive(
  agent: Agent,
  entry: Entry,
  { sentAt, order = Infinity, isProbe, reason }: Answer,
  now: number,
): void {
  const { register, local } = entry;
  const isRecent = sentAt >= entry.knownAt;
  if (isRecent) {
    if (order > entry.evidence.acceptedUntil) addOwnSign(entry.evidence, "alive", now);
    entry.hasOpened = false;
    entry.isContradicted = false;
  }
  if (local && (isProbe || sentAt > local.changedAt)) {
    entry.local = undefined;
    entry.isContradicted = false;
    agent.availability.version++;
  }
  if (!isClosed(register, now) || !register.isProbed) return;
  // A call that was under way when a quota ran out may still succeed; only a probe shows that the quota is available
  // again.
  const proves =
    isOwnProbe(agent, entry, now) && isProbe ? true : sentAt > register.changedAt && register.state !== "parked";
  if (proves) open(agent, entry, { cause: "recovered", reason }, now);
}

function noteTrouble(agent: Agent, entry: Entry, answer: Answer, trouble: Trouble, now: number): void {
  const { sentAt, isProbe, reason } = answer;
  const { register, local, evidence } = entry;
  const state = STATES[trouble];
  const retryAfterMs = answer.retryAfterMs && Math.min(answer.retryAfterMs, LONGEST_PARK_MS - 1);
  if (isProbe && (isOwnProbe(agent, entry, now) || local)) {
    addTrouble(agent, entry, trouble, answer, now);
    close(agent, entry, state, { cause: "probe-failed", reason, retryAfterMs }, now);
    return;
  }
  if (isClosed(register, now)) {
    const isLonger = trouble === "quota" && now + (retryAfterMs ?? 0) > closedUntil(register) + 1_000;
    if (isLonger && register.isProbed) close(agent, entry, state, { cause: "quota", reason, retryAfterMs }, now);
    return;
  }
  if (local || sentAt < entry.knownAt) return;
  addTrouble(agent, entry, trouble, answer, now);
  const isEnough =
    trouble === "quota" ||
    (trouble === "overload" ? isOverloaded(evidence, register.changedAt, now) : isBroken(evidence));
  if (isEnough) close(agent, entry, state, { cause: CAUSES[trouble], reason, retryAfterMs }, now);
}

function addTrouble(agent: Agent, entry: Entry, trouble: Trouble, { sentAt, earlier = [] }: Answer, now: number): void {
  const { evidence, knownAt } = entry;
  const sign = trouble === "failure" ? "failure" : "overload";
  const refusalMs = Math.max(0, now - sentAt);
  const recent = earlier.filter((call) => call.sentAt >= knownAt);
  addAccepted(evidence, recent, sign, refusalMs, now);
  addOwnTrouble(evidence, sign, refusalMs, now);
  suspect(agent, entry);
  if (!entry.isContradicted) announceTrouble(agent, entry, now);
}

function suspect({ availability }: Agent, { evidence }: Entry): void {
  availability.troubledUntil = Math.max(availability.troubledUntil, evidence.suspectUntil);
}

/** Counts the answers that a peer has reported. Together they are the same evidence as answers of this agent. */
export function countPeerSigns(agent: Agent, entry: Entry, signs: readonly Sign[], now: number): void {
  if (isClosed(entry.register, now)) return;
  for (const sign of signs) addSign(entry.evidence, sign, now);
  suspect(agent, entry);
  const last = signs.at(-1);
  if (last === undefined || last === "alive" || entry.local) return;
  const trouble = last === "failure" ? "failure" : "overload";
  const isEnough =
    last === "failure" ? isBroken(entry.evidence) : isOverloaded(entry.evidence, entry.register.changedAt, now);
  const reason = `${entry.evidence.signs.filter((sign) => sign === last).length} of the last ${entry.evidence.signs.length} answers`;
  if (isEnough) close(agent, entry, STATES[trouble], { cause: CAUSES[trouble], reason }, now);
}
