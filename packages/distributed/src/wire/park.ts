import { BOUNDS, clamped } from "./bounds.ts";
import { BadMessage, number, object, parse, text } from "./fields.ts";
import { LONGEST_REASON } from "./level-fields.ts";
import { LONGEST_ID, LONGEST_NAME } from "./subjects.ts";

/** An operator's decision, as a message to all agents. */
export interface ParkMessage {
  readonly action: "park" | "unpark";
  readonly endpoint: string;
  readonly model: string | undefined;
  /** Duration of the park in milliseconds; undefined until the endpoint is unparked. */
  readonly forMs: number | undefined;
  readonly reason: string;
  readonly agentId: string;
  readonly timestamp: Date;
}

const bounds = BOUNDS.park;

/**
 * Encodes a decision as a message on the capacity subject. Agents of earlier versions ignore it, because it names no
 * resource.
 */
export function encodePark({ action, endpoint, model, forMs, reason, agentId, timestamp }: ParkMessage): Uint8Array {
  const decision = {
    action,
    endpoint,
    ...(model === undefined ? {} : { model }),
    ...(forMs === undefined ? {} : { for_ms: clamped(bounds.for_ms, forMs) }),
  };
  const at = clamped(bounds.at, timestamp.getTime());
  return new TextEncoder().encode(JSON.stringify({ availability: decision, reason, agent_id: agentId, at }));
}

/** Decodes a decision; undefined for any other message on the subject. Throws `BadMessage` for an invalid decision. */
export function decodePark(payload: Uint8Array): ParkMessage | undefined {
  const fields = parse(payload);
  if (fields["availability"] === undefined || fields["resource"] !== undefined) return undefined;
  const decision = object(fields["availability"], "availability");
  const { action } = decision;
  if (action !== "park" && action !== "unpark") throw new BadMessage("unknown action");
  return {
    action,
    endpoint: text(decision, "endpoint", LONGEST_NAME),
    model: decision["model"] === undefined ? undefined : text(decision, "model", LONGEST_NAME),
    forMs: decision["for_ms"] === undefined ? undefined : number(decision, "for_ms", bounds.for_ms),
    reason: text(fields, "reason", LONGEST_REASON, 0),
    agentId: text(fields, "agent_id", LONGEST_ID),
    timestamp: new Date(number(fields, "at", bounds.at)),
  };
}
