import { type Amounts, isZero } from "../engine/amounts.ts";
import { type Dimensions, hasSameDimensions } from "../engine/dimensions.ts";
import type { ClaimReport, Message, PoolReport } from "../engine/message.ts";
import { BINS } from "../engine/use-window.ts";
import { BOUNDS, type Bound, clamped, clampedAll } from "./bounds.ts";
import { amounts, amountsOf, BadMessage, type Fields, list, number, numberOr, object, parse, text } from "./fields.ts";
import { levelFields, readLevel } from "./level-fields.ts";
import { LONGEST_ID, LONGEST_NAME, VERSION } from "./subjects.ts";

/** More of them in one message than fit into the largest is not ours. */
const MOST_POOLS = 10_000;
const MOST_DIMENSIONS = 8;
const LONGEST_DIMENSION = 64;
const ANY_VERSION: Bound = { least: 1, most: Number.MAX_SAFE_INTEGER, isWhole: true, beyond: "never reached" };

const utf8 = new TextEncoder();

/**
 * The state of an agent as JSON with named fields, in as many payloads as it takes to keep each below `maxBytes`. Each of
 * these stands for itself: whoever misses one knows the rest. The last alone says goodbye, for nothing is heard after that.
 */
export function encodePresence(message: Message, maxBytes: number): Uint8Array[] {
  const pools = message.pools.map((report) => JSON.stringify(poolFields(report)));
  const headBytes =
    utf8.encode(JSON.stringify(headFields(message, BOUNDS.presence.chunk.most, BOUNDS.presence.chunks.most))).length +
    16;
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
  const version = number(fields, "v", ANY_VERSION);
  if (version > VERSION) throw new BadMessage("newer version");
  const bounds = BOUNDS.presence;
  const chunks = numberOr(fields, "chunks", 1, bounds.chunks);
  const chunk = numberOr(fields, "chunk", 1, { ...bounds.chunk, most: chunks });
  return {
    id: text(fields, "agent_id", LONGEST_ID),
    life: number(fields, "life", bounds.life),
    // The last chunk has the number of the message, those before it come between that and the one before.
    seq: number(fields, "seq", bounds.seq) - 1 + chunk / chunks,
    upMs: number(fields, "up_ms", bounds.up_ms),
    nextMs: number(fields, "next_ms", bounds.next_ms),
    weight: number(fields, "weight", bounds.weight),
    members: number(fields, "members", bounds.members),
    bye: fields["bye"] === true,
    ...(fields["store"] === true ? { store: true } : {}),
    pools: fields["pools"] === undefined ? [] : list(fields["pools"], "pools", MOST_POOLS).map(readPool),
  };
}

function headFields(message: Message, chunk: number, chunks: number): object {
  const { id, bye, store } = message;
  const bounds = BOUNDS.presence;
  return {
    v: VERSION,
    agent_id: id,
    life: clamped(bounds.life, message.life),
    seq: clamped(bounds.seq, message.seq),
    ...(chunks > 1 ? { chunk: clamped(bounds.chunk, chunk), chunks: clamped(bounds.chunks, chunks) } : {}),
    up_ms: clamped(bounds.up_ms, message.upMs),
    next_ms: clamped(bounds.next_ms, message.nextMs),
    weight: clamped(bounds.weight, message.weight),
    members: clamped(bounds.members, message.members),
    ...(store ? { store } : {}),
    ...(bye && chunk === chunks ? { bye } : {}),
  };
}

function poolFields(report: PoolReport): object {
  const { claim, level, seen } = report;
  const bounds = BOUNDS.pool;
  return {
    resource: report.name,
    window_ms: clamped(bounds.window_ms, report.windowMs),
    limits: clampedAll(bounds.limits, report.limits),
    dimensions: dimensionFields(report),
    sent: unlessZero(bounds.sent, report.sent),
    back: unlessZero(bounds.back, report.back),
    back_age_ms: clamped(bounds.back_age_ms, report.backAgeMs) || undefined,
    used: unlessZero(bounds.used, report.used),
    bins: binFields(bounds.bins, report.bins),
    waiting: unlessZero(bounds.waiting, report.waiting),
    tried: report.tried ? true : undefined,
    claim: claim && claimFields(claim),
    turn: clamped(bounds.turn, report.turn),
    level: level && levelFields(level),
    seen: seen && binFields(bounds.seen, seen),
  };
}

/** Undefined for the usual dimensions, which are omitted. */
function dimensionFields({ limits, dimensions }: PoolReport): Dimensions | undefined {
  return dimensions && !hasSameDimensions({ limits }, { limits, dimensions }) ? dimensions : undefined;
}

function claimFields({ amounts, next, turn, tie, waitedMs }: ClaimReport): object {
  const bounds = BOUNDS.claim;
  return {
    amounts: clampedAll(bounds.amounts, amounts),
    next: clampedAll(bounds.next, next),
    turn: clamped(bounds.turn, turn),
    tie: clamped(bounds.tie, tie),
    // Infinite when nothing waits; then the field is omitted.
    ...(Number.isFinite(waitedMs) ? { waited_ms: clamped(bounds.waited_ms, waitedMs) } : {}),
  };
}

function readPool(value: unknown): PoolReport {
  const fields = object(value, "pools");
  const limits = list(fields["limits"], "limits", MOST_DIMENSIONS);
  const { length } = limits;
  if (length === 0) throw new BadMessage("bad limits");
  const bounds = BOUNDS.pool;
  return {
    name: text(fields, "resource", LONGEST_NAME),
    windowMs: number(fields, "window_ms", bounds.window_ms),
    dimensions: fields["dimensions"] === undefined ? undefined : readDimensions(fields["dimensions"], length),
    limits: amountsOf(limits, "limits", length, bounds.limits),
    sent: amounts(fields, "sent", length, bounds.sent),
    back: amounts(fields, "back", length, bounds.back),
    backAgeMs: numberOr(fields, "back_age_ms", 0, bounds.back_age_ms),
    used: amounts(fields, "used", length, bounds.used),
    bins: readBins(fields["bins"] === undefined ? [] : fields["bins"], "bins", length, bounds.bins),
    waiting: amounts(fields, "waiting", length, bounds.waiting),
    ...(fields["tried"] === true ? { tried: true } : {}),
    claim: fields["claim"] === undefined ? undefined : readClaim(object(fields["claim"], "claim"), length),
    turn: number(fields, "turn", bounds.turn),
    level: fields["level"] === undefined ? undefined : readLevel(object(fields["level"], "level")),
    seen: fields["seen"] === undefined ? undefined : readBins(fields["seen"], "seen", length, bounds.seen),
  };
}

/** One distinct name per limit. */
function readDimensions(value: unknown, length: number): Dimensions {
  const names = list(value, "dimensions", length);
  const isName = (name: unknown) => typeof name === "string" && name.length >= 1 && name.length <= LONGEST_DIMENSION;
  if (!names.every(isName) || new Set(names).size !== length) throw new BadMessage("bad dimensions");
  return names as Dimensions;
}

function readClaim(fields: Fields, length: number): ClaimReport {
  const bounds = BOUNDS.claim;
  return {
    amounts: amountsOf(fields["amounts"], "claim", length, bounds.amounts),
    next: amountsOf(fields["next"], "claim", length, bounds.next),
    turn: number(fields, "turn", bounds.turn),
    tie: number(fields, "tie", bounds.tie),
    waitedMs: numberOr(fields, "waited_ms", 0, bounds.waited_ms),
  };
}

/** The youngest first; those at the end in which nothing was used are left out. */
function binFields(bound: Bound, bins: readonly Amounts[]): readonly Amounts[] {
  const said = bins.map((bin) => clampedAll(bound, bin));
  let { length } = said;
  while (length > 0 && isZero(said[length - 1] as Amounts)) length--;
  return said.slice(0, length);
}

function readBins(value: unknown, name: string, length: number, bound: Bound): Amounts[] {
  const bins = list(value, name, BINS).map((bin) => amountsOf(bin, name, length, bound));
  while (bins.length < BINS) bins.push(new Array<number>(length).fill(0));
  return bins;
}

function unlessZero(bound: Bound, amounts: Amounts): Amounts | undefined {
  const said = clampedAll(bound, amounts);
  return isZero(said) ? undefined : said;
}
