import {
  type Amounts,
  BINS,
  type ChainLink,
  type ClaimReport,
  type Dimensions,
  hasSameDimensions,
  isZero,
  type Message,
  MOST_REFUNDS,
  type QuotaReport,
  type Refund,
} from "../engine/index.ts";
import { availabilityFields, hasReadableNames, readAvailabilityFields } from "./availability-fields.ts";
import { BOUNDS, type Bound, clamped, clampedAll, isWithin } from "./bounds.ts";
import {
  amounts,
  amountsOf,
  BadMessage,
  dimensionNames,
  type Fields,
  list,
  MOST_DIMENSIONS,
  number,
  numberOr,
  object,
  parse,
  text,
  wrong,
} from "./fields.ts";
import { levelFields, readLevel } from "./level-fields.ts";
import { LONGEST_ID, LONGEST_NAME, VERSION } from "./subjects.ts";

/** A message with more quotas exceeds the largest size that agents send. */
const MOST_QUOTAS = 10_000;
const MOST_AVAILABILITIES = 1_000;
const LONGEST_PROOF = 64;
const ANY_VERSION: Bound = { least: 1, most: Number.MAX_SAFE_INTEGER, isWhole: true, beyond: "never reached" };

const utf8 = new TextEncoder();
/** Bytes of the JSON around the lists of a message. */
const BRACKETS = 40;

/**
 * Encodes an agent's state as JSON with named fields, split into as many payloads as needed to keep each below
 * `maxBytes`. Each payload is complete in itself, so a receiver that misses one still uses the others. Only the last
 * payload carries the goodbye, because receivers ignore messages after it.
 */
export function encodePresence(message: Message, maxBytes: number): Uint8Array[] {
  const items = [
    ...message.quotas.map((report) => ({ list: 0, text: JSON.stringify(quotaFields(report)) })),
    ...(message.availability ?? [])
      .filter(hasReadableNames)
      .map((report) => ({ list: 1, text: JSON.stringify(availabilityFields(report)) })),
  ];
  const headBytes =
    utf8.encode(JSON.stringify(headFields(message, BOUNDS.presence.chunk.most, BOUNDS.presence.chunks.most))).length +
    BRACKETS;
  const chunks: string[][][] = [[[], []]];
  let bytes = headBytes;
  for (const { list: kind, text: item } of items) {
    const size = utf8.encode(item).length + 1;
    if (bytes + size > maxBytes && bytes > headBytes) {
      chunks.push([[], []]);
      bytes = headBytes;
    }
    chunks.at(-1)?.[kind]?.push(item);
    bytes += size;
  }
  return chunks.map(([quotas = [], availability = []], i) => {
    const head = JSON.stringify(headFields(message, i + 1, chunks.length)).slice(0, -1);
    const pools = quotas.length === 0 ? "" : `,"pools":[${quotas.join()}]`;
    const closed = availability.length === 0 ? "" : `,"availability":[${availability.join()}]`;
    return utf8.encode(`${head}${pools}${closed}}`);
  });
}

/** Decodes a message and ignores unknown fields. Throws `BadMessage`. */
export function decodePresence(payload: Uint8Array): Message {
  const fields = parse(payload);
  const version = number(fields, "v", ANY_VERSION);
  if (version > VERSION) throw new BadMessage("newer version");
  const bounds = BOUNDS.presence;
  const chunks = numberOr(fields, "chunks", 1, bounds.chunks);
  const chunk = numberOr(fields, "chunk", 1, { ...bounds.chunk, most: chunks });
  return {
    id: text(fields, "agent_id", LONGEST_ID),
    incarnation: number(fields, "life", bounds.life),
    // The last chunk has the number of the message. Earlier chunks have fractional numbers between the previous one and
    // this.
    seq: number(fields, "seq", bounds.seq) - 1 + chunk / chunks,
    upMs: number(fields, "up_ms", bounds.up_ms),
    nextMs: number(fields, "next_ms", bounds.next_ms),
    weight: number(fields, "weight", bounds.weight),
    members: number(fields, "members", bounds.members),
    bye: fields["bye"] === true,
    ...(typeof fields["leave"] === "string" ? { leave: text(fields, "leave", LONGEST_PROOF) } : {}),
    ...(fields["chain"] === undefined ? {} : { chain: readChain(object(fields["chain"], "chain")) }),
    ...(fields["store"] === true ? { store: true } : {}),
    ...(fields["observes"] === true ? { observes: true } : {}),
    ...(fields["echo_ms"] === undefined ? {} : { echoMs: number(fields, "echo_ms", bounds.echo_ms) }),
    quotas: fields["pools"] === undefined ? [] : list(fields["pools"], "pools", MOST_QUOTAS).map(readQuota),
    ...(fields["availability"] === undefined
      ? {}
      : {
          availability: list(fields["availability"], "availability", MOST_AVAILABILITIES).flatMap(
            readAvailabilityFields,
          ),
        }),
  };
}

function readChain(fields: Fields): ChainLink {
  const { part, n } = BOUNDS.chain;
  const chain = {
    part: number(fields, "part", part),
    n: number(fields, "n", n),
    link: text(fields, "link", LONGEST_PROOF),
  };
  return fields["next"] === undefined ? chain : { ...chain, next: text(fields, "next", LONGEST_PROOF) };
}

function headFields(message: Message, chunk: number, chunks: number): object {
  const { id, bye, store, observes, echoMs, leave } = message;
  const bounds = BOUNDS.presence;
  return {
    v: VERSION,
    agent_id: id,
    life: clamped(bounds.life, message.incarnation),
    seq: clamped(bounds.seq, message.seq),
    ...(chunks > 1 ? { chunk: clamped(bounds.chunk, chunk), chunks: clamped(bounds.chunks, chunks) } : {}),
    up_ms: clamped(bounds.up_ms, message.upMs),
    next_ms: clamped(bounds.next_ms, message.nextMs),
    weight: clamped(bounds.weight, message.weight),
    members: clamped(bounds.members, message.members),
    ...(store ? { store } : {}),
    ...(observes ? { observes } : {}),
    ...(echoMs === undefined ? {} : { echo_ms: clamped(bounds.echo_ms, echoMs) }),
    // Only the goodbye itself contains the secret of the goodbye.
    ...(leave !== undefined && (!bye || chunk === chunks) ? { leave } : {}),
    ...(bye && chunk === chunks ? { bye } : {}),
  };
}

function quotaFields(report: QuotaReport): object {
  const { claim, level, joinSnapshot } = report;
  const bounds = BOUNDS.quota;
  return {
    resource: report.name,
    window_ms: clamped(bounds.window_ms, report.windowMs),
    limits: clampedAll(bounds.limits, report.limits),
    dimensions: dimensionFields(report),
    sent: unlessZero(bounds.sent, report.spentTotal),
    back: unlessZero(bounds.back, report.refundedTotal),
    back_age_ms: clamped(bounds.back_age_ms, report.refundAgeMs) || undefined,
    backs: refundFields(report),
    used: unlessZero(bounds.used, report.used),
    bins: binFields(bounds.bins, report.bins),
    waiting: unlessZero(bounds.waiting, report.demand),
    tried: report.tried ? true : undefined,
    claim: claim && claimFields(claim),
    turn: clamped(bounds.turn, report.virtualTime),
    level: level && levelFields(level),
    seen: joinSnapshot && binFields(bounds.seen, joinSnapshot),
    seen_bins: joinSnapshot && joinSnapshot.length !== BINS ? joinSnapshot.length : undefined,
    held_ms: optional(bounds.held_ms, report.heldMs),
    ends_ms: optional(bounds.ends_ms, report.endsMs),
    adaptive: report.adaptive && adaptiveFields(report.adaptive),
    departed: optional(bounds.departed, report.departed) || undefined,
    departed_ms: report.departed ? optional(bounds.departed_ms, report.departedMs) : undefined,
  };
}

function adaptiveFields({ epoch, base, steps, changedAt }: NonNullable<QuotaReport["adaptive"]>): object {
  const bounds = BOUNDS.adaptive;
  return {
    epoch: clamped(bounds.epoch, epoch),
    base: clamped(bounds.base, base),
    steps: clamped(bounds.steps, steps),
    age_ms: clamped(bounds.age_ms, changedAt),
  };
}

function readAdaptive(fields: Fields): NonNullable<QuotaReport["adaptive"]> {
  const bounds = BOUNDS.adaptive;
  return {
    epoch: number(fields, "epoch", bounds.epoch),
    base: number(fields, "base", bounds.base),
    steps: number(fields, "steps", bounds.steps),
    changedAt: number(fields, "age_ms", bounds.age_ms),
  };
}

/** Undefined for the usual dimensions, which are omitted. */
function dimensionFields({ limits, dimensions }: QuotaReport): Dimensions | undefined {
  return dimensions && !hasSameDimensions({ limits }, { limits, dimensions }) ? dimensions : undefined;
}

function claimFields({ amounts, next, virtualTime, tie, waitedMs }: ClaimReport): object {
  const bounds = BOUNDS.claim;
  return {
    amounts: clampedAll(bounds.amounts, amounts),
    next: clampedAll(bounds.next, next),
    turn: clamped(bounds.turn, virtualTime),
    tie: clamped(bounds.tie, tie),
    // `waitedMs` is infinite while nothing waits; then the field is omitted.
    ...(Number.isFinite(waitedMs) ? { waited_ms: clamped(bounds.waited_ms, waitedMs) } : {}),
  };
}

function readQuota(value: unknown): QuotaReport {
  const fields = object(value, "pools");
  const limits = list(fields["limits"], "limits", MOST_DIMENSIONS);
  const { length } = limits;
  if (length === 0) throw new BadMessage("bad limits");
  const bounds = BOUNDS.quota;
  return {
    name: text(fields, "resource", LONGEST_NAME),
    windowMs: number(fields, "window_ms", bounds.window_ms),
    dimensions: fields["dimensions"] === undefined ? undefined : readDimensions(fields["dimensions"], length),
    limits: amountsOf(limits, "limits", length, bounds.limits),
    spentTotal: amounts(fields, "sent", length, bounds.sent),
    refundedTotal: amounts(fields, "back", length, bounds.back),
    refundAgeMs: numberOr(fields, "back_age_ms", 0, bounds.back_age_ms),
    refunds: fields["backs"] === undefined ? undefined : readRefunds(fields["backs"], length),
    used: amounts(fields, "used", length, bounds.used),
    bins: readBins(fields["bins"] === undefined ? [] : fields["bins"], "bins", length, bounds.bins),
    demand: amounts(fields, "waiting", length, bounds.waiting),
    ...(fields["tried"] === true ? { tried: true } : {}),
    claim: fields["claim"] === undefined ? undefined : readClaim(object(fields["claim"], "claim"), length),
    virtualTime: number(fields, "turn", bounds.turn),
    level: fields["level"] === undefined ? undefined : readLevel(object(fields["level"], "level")),
    joinSnapshot: fields["seen"] === undefined ? undefined : readSnapshot(fields, length),
    ...readSlots(fields),
  };
}

/** Reads the fields that only reports on slots contain. */
function readSlots(fields: Fields): Pick<QuotaReport, "heldMs" | "endsMs" | "adaptive" | "departed" | "departedMs"> {
  const bounds = BOUNDS.quota;
  return {
    ...(fields["held_ms"] === undefined ? {} : { heldMs: number(fields, "held_ms", bounds.held_ms) }),
    ...(fields["ends_ms"] === undefined ? {} : { endsMs: number(fields, "ends_ms", bounds.ends_ms) }),
    ...(fields["adaptive"] === undefined ? {} : { adaptive: readAdaptive(object(fields["adaptive"], "adaptive")) }),
    ...(fields["departed"] === undefined ? {} : { departed: number(fields, "departed", bounds.departed) }),
    ...(fields["departed_ms"] === undefined ? {} : { departedMs: number(fields, "departed_ms", bounds.departed_ms) }),
  };
}

/** Encodes each refund as its age, followed by its amounts. */
function refundFields({ refunds = [] }: QuotaReport): Amounts[] | undefined {
  if (refunds.length === 0) return undefined;
  const { back, back_age_ms } = BOUNDS.quota;
  return refunds.map(({ ageMs, amounts }) => [clamped(back_age_ms, ageMs), ...clampedAll(back, amounts)]);
}

function readRefunds(value: unknown, length: number): Refund[] {
  const { back, back_age_ms } = BOUNDS.quota;
  return list(value, "backs", MOST_REFUNDS).map((refund) => {
    const [ageMs, ...amounts] = list(refund, "backs", length + 1);
    if (!isWithin(back_age_ms, ageMs)) throw wrong("backs");
    return { ageMs, amounts: amountsOf(amounts, "backs", length, back) };
  });
}

/** Reads one distinct name per limit. */
function readDimensions(value: unknown, length: number): Dimensions {
  const names = dimensionNames(value, length);
  if (names.length !== length) throw new BadMessage("bad dimensions");
  return names;
}

function readClaim(fields: Fields, length: number): ClaimReport {
  const bounds = BOUNDS.claim;
  return {
    amounts: amountsOf(fields["amounts"], "claim", length, bounds.amounts),
    next: amountsOf(fields["next"], "claim", length, bounds.next),
    virtualTime: number(fields, "turn", bounds.turn),
    tie: number(fields, "tie", bounds.tie),
    waitedMs: numberOr(fields, "waited_ms", 0, bounds.waited_ms),
  };
}

/** Encodes the bins, youngest first, without the empty ones at the end. */
function binFields(bound: Bound, bins: readonly Amounts[]): readonly Amounts[] {
  const said = bins.map((bin) => clampedAll(bound, bin));
  let { length } = said;
  while (length > 0 && isZero(said[length - 1] as Amounts)) length--;
  return said.slice(0, length);
}

function readBins(value: unknown, name: string, length: number, bound: Bound, count = BINS): Amounts[] {
  const bins = list(value, name, count).map((bin) => amountsOf(bin, name, length, bound));
  while (bins.length < count) bins.push(new Array<number>(length).fill(0));
  return bins;
}

function readSnapshot(fields: Fields, length: number): Amounts[] {
  const { seen, seen_bins } = BOUNDS.quota;
  return readBins(fields["seen"], "seen", length, seen, numberOr(fields, "seen_bins", BINS, seen_bins));
}

function optional(bound: Bound, value: number | undefined): number | undefined {
  return value === undefined ? undefined : clamped(bound, value);
}

function unlessZero(bound: Bound, amounts: Amounts): Amounts | undefined {
  const said = clampedAll(bound, amounts);
  return isZero(said) ? undefined : said;
}
