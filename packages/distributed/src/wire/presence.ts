import { type Amounts, isZero } from "../engine/amounts.ts";
import type { ClaimReport, Message, PoolReport } from "../engine/message.ts";
import { BINS } from "../engine/use-window.ts";
import {
  amounts,
  amountsOf,
  BadMessage,
  type Fields,
  list,
  MOST,
  number,
  numberOr,
  object,
  parse,
  text,
  whole,
} from "./fields.ts";
import { levelFields, readLevel } from "./level-fields.ts";
import { LONGEST_ID, LONGEST_NAME, VERSION } from "./subjects.ts";

/** More of them in one message than fit into the largest is not ours. */
const MOST_POOLS = 10_000;
const MOST_DIMENSIONS = 8;
const MOST_CHUNKS = 10_000;
/** 32 bits of a hash. */
const MOST_TIE = 2 ** 32 - 1;
/** No agent stays away for longer than it says here, or it is not there. */
const LONGEST_NEXT_MS = 3_600_000;

const utf8 = new TextEncoder();

/**
 * The state of an agent as JSON with named fields, in as many payloads as it takes to keep each below `maxBytes`. Each of
 * these stands for itself: whoever misses one knows the rest. The last alone says goodbye, for nothing is heard after that.
 */
export function encodePresence(message: Message, maxBytes: number): Uint8Array[] {
  const pools = message.pools.map((report) => JSON.stringify(poolFields(report)));
  const headBytes = utf8.encode(JSON.stringify(headFields(message, MOST_CHUNKS, MOST_CHUNKS))).length + 16;
  const chunks: string[][] = [[]];
  let bytes = headBytes;
  for (const pool of pools) {
    const size = utf8.encode(pool).length + 1;
    if (bytes + size > maxBytes && bytes > headBytes) {
      chunks.push([]);
      bytes = headBytes;
    }
    chunks.at(-1)?.push(pool);
    bytes += size;
  }
  return chunks.map((chunk, i) => {
    const head = JSON.stringify(headFields(message, i + 1, chunks.length));
    return utf8.encode(chunk.length === 0 ? head : `${head.slice(0, -1)},"pools":[${chunk.join()}]}`);
  });
}

/** Throws `BadMessage`; what is unknown in it is ignored. */
export function decodePresence(payload: Uint8Array): Message {
  const fields = parse(payload);
  const version = whole(fields, "v", 1);
  if (version > VERSION) throw new BadMessage("newer version");
  const chunks = numberOr(fields, "chunks", 1, 1, MOST_CHUNKS);
  const chunk = numberOr(fields, "chunk", 1, 1, chunks);
  return {
    id: text(fields, "agent_id", LONGEST_ID),
    life: whole(fields, "life", 0),
    // The last chunk has the number of the message, those before it come between that and the one before.
    seq: whole(fields, "seq", 1) - 1 + chunk / chunks,
    upMs: number(fields, "up_ms", 0),
    nextMs: number(fields, "next_ms", 0, LONGEST_NEXT_MS),
    weight: number(fields, "weight", 1e-6, 1e6),
    members: whole(fields, "members", 1, 1e6),
    bye: fields["bye"] === true,
    ...(fields["store"] === true ? { store: true } : {}),
    pools: fields["pools"] === undefined ? [] : list(fields["pools"], "pools", MOST_POOLS).map(readPool),
  };
}

function headFields(message: Message, chunk: number, chunks: number): object {
  const { id, life, seq, upMs, nextMs, weight, members, bye, store } = message;
  return {
    v: VERSION,
    agent_id: id,
    life,
    seq,
    ...(chunks > 1 ? { chunk, chunks } : {}),
    up_ms: Math.floor(upMs),
    next_ms: nextMs,
    weight,
    members,
    ...(store ? { store } : {}),
    ...(bye && chunk === chunks ? { bye } : {}),
  };
}

function poolFields(report: PoolReport): object {
  const { claim, level, seen } = report;
  return {
    resource: report.name,
    window_ms: report.windowMs,
    limits: report.limits,
    sent: unlessZero(report.sent),
    back: unlessZero(report.back),
    // Rounded up: what was given back may count from too early on, never from too late.
    back_age_ms: report.backAgeMs > 0 ? Math.ceil(report.backAgeMs) : undefined,
    used: unlessZero(report.used),
    bins: binFields(report.bins),
    waiting: unlessZero(report.waiting),
    tried: report.tried ? true : undefined,
    claim: claim && claimFields(claim),
    turn: report.turn,
    level: level && levelFields(level),
    seen: seen && binFields(seen),
  };
}

function claimFields({ amounts, next, turn, tie, waitedMs }: ClaimReport): object {
  const waited = Number.isFinite(waitedMs) ? { waited_ms: Math.max(0, Math.floor(waitedMs)) } : {};
  return { amounts, next, turn, tie, ...waited };
}

function readPool(value: unknown): PoolReport {
  const fields = object(value, "pools");
  const limits = list(fields["limits"], "limits", MOST_DIMENSIONS);
  const { length } = limits;
  if (length === 0) throw new BadMessage("bad limits");
  return {
    name: text(fields, "resource", LONGEST_NAME),
    windowMs: number(fields, "window_ms", Number.MIN_VALUE),
    limits: amountsOf(limits, "limits", length, 0),
    sent: amounts(fields, "sent", length),
    back: amounts(fields, "back", length),
    backAgeMs: numberOr(fields, "back_age_ms", 0, 0),
    used: amounts(fields, "used", length),
    bins: readBins(fields["bins"] === undefined ? [] : fields["bins"], "bins", length),
    waiting: amounts(fields, "waiting", length),
    ...(fields["tried"] === true ? { tried: true } : {}),
    claim: fields["claim"] === undefined ? undefined : readClaim(object(fields["claim"], "claim"), length),
    turn: number(fields, "turn", 0),
    level: fields["level"] === undefined ? undefined : readLevel(object(fields["level"], "level")),
    seen: fields["seen"] === undefined ? undefined : readBins(fields["seen"], "seen", length),
  };
}

function readClaim(fields: Fields, length: number): ClaimReport {
  return {
    amounts: amountsOf(fields["amounts"], "claim", length),
    next: amountsOf(fields["next"], "claim", length),
    turn: number(fields, "turn", 0),
    tie: whole(fields, "tie", 0, MOST_TIE),
    waitedMs: numberOr(fields, "waited_ms", 0, 0),
  };
}

/** The youngest first; those at the end in which nothing was used are left out. */
function binFields(bins: readonly Amounts[]): readonly Amounts[] {
  let length = bins.length;
  while (length > 0 && isNothing(bins[length - 1] as Amounts)) length--;
  return bins.slice(0, length).map((bin) => bin.map(atLeastNothing));
}

function readBins(value: unknown, name: string, length: number): Amounts[] {
  const bins = list(value, name, BINS).map((bin) => amountsOf(bin, name, length));
  while (bins.length < BINS) bins.push(new Array<number>(length).fill(0));
  return bins;
}

/** Sums of fractions may end a little below nothing. */
function unlessZero(amounts: Amounts): Amounts | undefined {
  return isNothing(amounts) ? undefined : amounts.map(atLeastNothing);
}

function isNothing(amounts: Amounts): boolean {
  return isZero(amounts) || amounts.every((amount) => amount <= 0);
}

function atLeastNothing(amount: number): number {
  return Math.min(MOST, Math.max(0, amount));
}
