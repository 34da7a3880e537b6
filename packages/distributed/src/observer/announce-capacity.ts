import type { MessageBus } from "@hivepace/bus";
import type { CapacityUpdate, Clock } from "@hivepace/core";
import { checkKnown, need, type OptionNames } from "@hivepace/core/internal";
import { encodeCapacity } from "../wire/capacity.ts";
import { LONGEST_REASON } from "../wire/level-fields.ts";
import { LONGEST_ID, LONGEST_NAME } from "../wire/subjects.ts";
import { publishDecision } from "./publish-decision.ts";

/** Options of `announceCapacity`, `parkEndpoint` and `unparkEndpoint`. */
export interface AnnounceOptions {
  /** The bus of the agents. It stays open. */
  bus: MessageBus;
  /**
   * Namespace of the agents; "" for subjects without a prefix.
   *
   * @defaultValue the result of `resolveNamespace()` of `@hivepace/namespace`
   */
  namespace?: string | undefined;
  /**
   * Secret of the agents, if they sign their messages.
   *
   * @defaultValue none: the message is not signed
   */
  secret?: string | readonly [current: string, previous: string] | undefined;
  /** The agents' own, if they have one. */
  swarmId?: string | undefined;
  /** The clock that dates the announcement. @defaultValue the system's clock */
  clock?: Clock | undefined;
}

const UPDATE = {
  resource: true,
  agentId: true,
  newCapacity: true,
  reason: true,
  timestamp: true,
} as const satisfies OptionNames<CapacityUpdate>;

/**
 * Announces a reduced capacity of a resource to all agents, without being an agent: for operators and their scripts.
 * Agents treat the announcement as one more cut, to `newCapacity`, unless that is no lower than their present capacity
 * or follows the last cut too closely. Resolves when the broker has accepted the message.
 *
 * @throws INVALID_CONFIG, or the error of the bus
 */
export async function announceCapacity(update: CapacityUpdate, options: AnnounceOptions): Promise<void> {
  checkKnown(update, UPDATE, "", "update");
  const { resource, agentId, newCapacity, reason, timestamp } = update;
  need(isText(resource, 1, LONGEST_NAME), "resource", `a string of 1 to ${LONGEST_NAME} characters`, resource);
  need(isText(agentId, 1, LONGEST_ID), "agentId", `a string of 1 to ${LONGEST_ID} characters`, agentId);
  need(isText(reason, 0, LONGEST_REASON), "reason", `a string of at most ${LONGEST_REASON} characters`, reason);
  need(Number.isSafeInteger(newCapacity) && newCapacity >= 1, "newCapacity", "a whole number from 1 on", newCapacity);
  const isTime = timestamp instanceof Date && !Number.isNaN(timestamp.getTime());
  need(isTime, "timestamp", "a Date", timestamp);
  await publishDecision(
    encodeCapacity({ resource, agentId, newCapacity, reason, timestamp, ours: undefined }),
    options,
  );
}

function isText(value: unknown, shortest: number, longest: number): boolean {
  return typeof value === "string" && value.length >= shortest && value.length <= longest;
}
