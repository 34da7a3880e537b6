import type { Level } from "../engine/index.ts";
import { hash32 } from "../hash.ts";
import { BOUNDS, type Bound, clamped } from "./bounds.ts";
import { type Fields, number, numberOr, object, parse, text, wrong } from "./fields.ts";
import { LONGEST_REASON, levelFields, readLevel } from "./level-fields.ts";
import { LONGEST_ID, LONGEST_NAME, VERSION } from "./subjects.ts";

/** Announcement of a reduced capacity. Agents of every implementation understand the first five fields. */
export interface CapacityMessage {
  readonly resource: string;
  readonly agentId: string;
  /** A whole number from 1 on. */
  readonly newCapacity: number;
  readonly reason: string;
  readonly timestamp: Date;
  /** Additional fields of agents of this implementation and version; the level contains ages instead of times. */
  readonly ours: { readonly life: number; readonly seq: number; readonly level: Level } | undefined;
  /** The message has a later version, of which only the five common fields are understood. */
  readonly isNewer: boolean;
}

const LONGEST_FOREIGN_REASON = 4_096;
/** RFC 3339 with any number of decimals, because agents in Go send up to nine. */
const TIMESTAMP = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d{1,9})?([Zz]|[+-]\d\d:\d\d)$/;

/** RFC 3339 has four-digit years. Later times are sent as the last representable one, meaning "then or later". */
const LAST_TIME = Date.UTC(10_000, 0, 1) - 1;
const FIRST_TIME = Date.parse("0000-01-01T00:00:00.000Z");
/** Announcements of later versions are read too, for their five common fields. */
const ANY_VERSION: Bound = { least: 0, most: Number.MAX_SAFE_INTEGER, beyond: "never reached" };
const bounds = BOUNDS.announcement;

export function encodeCapacity(message: Omit<CapacityMessage, "isNewer">): Uint8Array {
  const { resource, agentId, newCapacity, reason, timestamp, ours } = message;
  return new TextEncoder().encode(
    JSON.stringify({
      resource,
      agent_id: agentId,
      new_capacity: clamped(bounds.new_capacity, newCapacity),
      reason,
      timestamp: written(timestamp),
      ...(ours && {
        v: VERSION,
        life: clamped(bounds.life, ours.life),
        seq: clamped(bounds.seq, ours.seq),
        level: levelFields(ours.level),
      }),
    }),
  );
}

/** Decodes an announcement and ignores unknown fields. Throws `BadMessage`. */
export function decodeCapacity(payload: Uint8Array): CapacityMessage {
  const fields = parse(payload);
  const version = numberOr(fields, "v", 0, ANY_VERSION);
  return {
    resource: text(fields, "resource", LONGEST_NAME),
    agentId: text(fields, "agent_id", LONGEST_ID),
    newCapacity: number(fields, "new_capacity", bounds.new_capacity),
    reason: text(fields, "reason", LONGEST_FOREIGN_REASON, 0).slice(0, LONGEST_REASON),
    timestamp: time(fields, "timestamp"),
    ours: version === VERSION ? readOurs(fields) : undefined,
    isNewer: version > VERSION,
  };
}

/** The origin of a cut that an agent without level registers announced. Each of its messages has another origin. */
export function foreignOrigin(agentId: string, timestamp: Date): string {
  const number = hash32(`${agentId} ${timestamp.getTime()}`);
  return `${agentId}#${number.toString(16).padStart(8, "0")}`;
}

/** The agent's name in an origin, for display. */
export function agentOf(origin: string): string {
  return origin.replace(/#[0-9a-f]{8}$/, "");
}

function written(time: Date): string {
  return new Date(Math.min(LAST_TIME, Math.max(FIRST_TIME, time.getTime()))).toISOString();
}

function readOurs(fields: Fields) {
  const level = readLevel(object(fields["level"], "level"));
  return { life: number(fields, "life", bounds.life), seq: number(fields, "seq", bounds.seq), level };
}

function time(fields: Fields, name: string): Date {
  const value = text(fields, name, 64);
  const date = new Date(value);
  if (!TIMESTAMP.test(value) || Number.isNaN(date.getTime())) throw wrong(name);
  return date;
}
