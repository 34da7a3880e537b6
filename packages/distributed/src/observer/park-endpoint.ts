import { InvalidConfigError } from "@hivepace/core";
import { checkKnown, isAmount, type OptionNames } from "@hivepace/core/internal";
import { LONGEST_REASON } from "../wire/level-fields.ts";
import { encodePark, type ParkMessage } from "../wire/park.ts";
import { LONGEST_ID, LONGEST_NAME } from "../wire/subjects.ts";
import type { AnnounceOptions } from "./announce-capacity.ts";
import { publishDecision } from "./publish-decision.ts";

/** An operator's decision to park or unpark an endpoint. */
export interface ParkDecision {
  readonly endpoint: string;
  /**
   * The model concerned.
   *
   * @defaultValue the endpoint with all its models
   */
  readonly model?: string | undefined;
  /**
   * Duration of the park in milliseconds.
   *
   * @defaultValue until the endpoint is unparked
   */
  readonly forMs?: number | undefined;
  /** Reason for the decision, shown in denials, events and status. */
  readonly reason: string;
  /** Name of the operator. */
  readonly agentId: string;
  /**
   * Time of the decision. Agents reject decisions older than five minutes.
   *
   * @defaultValue now
   */
  readonly timestamp?: Date | undefined;
}

const DECISION = {
  endpoint: true,
  model: true,
  forMs: true,
  reason: true,
  agentId: true,
  timestamp: true,
} as const satisfies OptionNames<ParkDecision>;

/**
 * Closes an endpoint, or one of its models, for all agents, without being an agent. Agents without a secret honour the
 * park for one window. Resolves when the broker has accepted the message.
 *
 * @throws INVALID_CONFIG, or the error of the bus
 */
export function parkEndpoint(decision: ParkDecision, options: AnnounceOptions): Promise<void> {
  return publish("park", decision, options);
}

/**
 * Opens an endpoint, or one of its models, for all agents, whatever the reason for its closure.
 *
 * @throws INVALID_CONFIG, or the error of the bus
 */
export function unparkEndpoint(decision: Omit<ParkDecision, "forMs">, options: AnnounceOptions): Promise<void> {
  return publish("unpark", decision, options);
}

async function publish(action: ParkMessage["action"], decision: ParkDecision, options: AnnounceOptions): Promise<void> {
  checkKnown(decision, DECISION, "", "decision");
  const { endpoint, model, forMs, reason, agentId, timestamp = new Date() } = decision;
  needText("endpoint", endpoint, 1, LONGEST_NAME);
  if (model !== undefined) needText("model", model, 1, LONGEST_NAME);
  needText("reason", reason, 0, LONGEST_REASON);
  needText("agentId", agentId, 1, LONGEST_ID);
  if (forMs !== undefined && !isAmount(forMs))
    throw new InvalidConfigError("forMs", "a finite number above 0, or absent", forMs);
  if (!(timestamp instanceof Date) || Number.isNaN(timestamp.getTime()))
    throw new InvalidConfigError("timestamp", "a Date, or absent", timestamp);
  await publishDecision(encodePark({ action, endpoint, model, forMs, reason, agentId, timestamp }), options);
}

function needText(option: string, value: unknown, shortest: number, longest: number): void {
  if (typeof value !== "string" || value.length < shortest || value.length > longest)
    throw new InvalidConfigError(option, `a string of ${shortest} to ${longest} characters`, value);
}
