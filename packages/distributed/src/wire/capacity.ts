import type { Level } from "../engine/level.ts";
import { hash32 } from "../hash.ts";
import { type Fields, numberOr, object, parse, text, whole, wrong } from "./fields.ts";
import { LONGEST_REASON, levelFields, readLevel } from "./level-fields.ts";
import { LONGEST_ID, LONGEST_NAME, VERSION } from "./subjects.ts";

/** That a capacity was reduced. The first five are what every agent understands, of whatever kind. */
export interface CapacityMessage {
  readonly resource: string;
  readonly agentId: string;
  /** A whole number from 1 on. */
  readonly newCapacity: number;
  readonly reason: string;
  readonly timestamp: Date;
  /** What an agent of this kind and version adds; ages are in the place of times. */
  readonly ours: { readonly life: number; readonly seq: number; readonly level: Level } | undefined;
  /** It was said by a newer version, of which we understand the five. */
  readonly isNewer: boolean;
}

const LONGEST_FOREIGN_REASON = 4_096;
/** RFC 3339, with any number of decimals, as agents in Go write it. */
const TIMESTAMP = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d{1,9})?([Zz]|[+-]\d\d:\d\d)$/;

export function encodeCapacity(message: Omit<CapacityMessage, "isNewer">): Uint8Array {
  const { resource, agentId, newCapacity, reason, timestamp, ours } = message;
  return new TextEncoder().encode(
    JSON.stringify({
      resource,
      agent_id: agentId,
      new_capacity: Math.max(1, Math.floor(newCapacity)),
      reason,
      timestamp: timestamp.toISOString(),
      ...(ours && { v: VERSION, life: ours.life, seq: ours.seq, level: levelFields(ours.level) }),
    }),
  );
}

/** Throws `BadMessage`; what is unknown in it is ignored. */
export function decodeCapacity(payload: Uint8Array): CapacityMessage {
  const fields = parse(payload);
  const version = numberOr(fields, "v", 0, 0);
  return {
    resource: text(fields, "resource", LONGEST_NAME),
    agentId: text(fields, "agent_id", LONGEST_ID),
    newCapacity: whole(fields, "new_capacity", 1),
    reason: text(fields, "reason", LONGEST_FOREIGN_REASON, 0).slice(0, LONGEST_REASON),
    timestamp: time(fields, "timestamp"),
    ours: version === VERSION ? readOurs(fields) : undefined,
    isNewer: version > VERSION,
  };
}

/** Who cut, when an agent said so that has no registers: one that no two of its messages share. */
export function foreignOrigin(agentId: string, timestamp: Date): string {
  const number = hash32(`${agentId} ${timestamp.getTime()}`);
  return `${agentId}#${number.toString(16).padStart(8, "0")}`;
}

/** The agent's name in an origin, for people. */
export function agentOf(origin: string): string {
  return origin.replace(/#[0-9a-f]{8}$/, "");
}

function readOurs(fields: Fields) {
  const level = readLevel(object(fields["level"], "level"));
  return { life: whole(fields, "life", 0), seq: whole(fields, "seq", 1), level };
}

function time(fields: Fields, name: string): Date {
  const value = text(fields, name, 64);
  const date = new Date(value);
  if (!TIMESTAMP.test(value) || Number.isNaN(date.getTime())) throw wrong(name);
  return date;
}
