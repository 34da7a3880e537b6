import { type MessageBus, namespacedBus } from "@hivepace/bus";
import { type CapacityUpdate, InvalidConfigError } from "@hivepace/core";
import { resolveNamespace } from "@hivepace/namespace";
import { secretsOf } from "../limiter/config.ts";
import { encodeCapacity } from "../wire/capacity.ts";
import { LONGEST_REASON } from "../wire/level-fields.ts";
import { Seal } from "../wire/seal.ts";
import { CAPACITY_SUBJECT, LONGEST_ID, LONGEST_NAME } from "../wire/subjects.ts";

/** What is announced, to whom, and by whom. */
export interface AnnounceOptions {
  /** Is lent: it stays open. */
  bus: MessageBus;
  /** The agents' own. Default: what `resolveNamespace()` of `@hivepace/namespace` says. "": subjects have no prefix. */
  namespace?: string | undefined;
  /** The agents' own, if they sign. */
  secret?: string | readonly [current: string, previous: string] | undefined;
}

/**
 * Tells all agents that a resource has less capacity, without being an agent: for operators and their scripts. To them it
 * is one more cut, to `newCapacity`, unless that is no lower than what they have or follows the last cut too closely.
 * Resolves when the broker has it. Rejects with INVALID_CONFIG, or as the bus does.
 */
export async function announceCapacity(update: CapacityUpdate, options: AnnounceOptions): Promise<void> {
  const { resource, agentId, newCapacity, reason, timestamp } = update;
  const { bus, namespace, secret } = options;
  need(isText(resource, 1, LONGEST_NAME), "resource", `a string of 1 to ${LONGEST_NAME} characters`, resource);
  need(isText(agentId, 1, LONGEST_ID), "agentId", `a string of 1 to ${LONGEST_ID} characters`, agentId);
  need(isText(reason, 0, LONGEST_REASON), "reason", `a string of at most ${LONGEST_REASON} characters`, reason);
  need(Number.isSafeInteger(newCapacity) && newCapacity >= 1, "newCapacity", "a whole number from 1 on", newCapacity);
  const isTime = timestamp instanceof Date && !Number.isNaN(timestamp.getTime());
  need(isTime, "timestamp", "a Date", timestamp);
  need(typeof bus?.publish === "function", "bus", "a MessageBus", bus);
  const name = namespace === "" ? "" : resolveNamespace({ namespace }).namespace;
  const message = encodeCapacity({ resource, agentId, newCapacity, reason, timestamp, ours: undefined });
  const payload = new Seal(secretsOf(secret), name).close(CAPACITY_SUBJECT, message);
  if (name === "") return bus.publish(CAPACITY_SUBJECT, payload);
  const own = namespacedBus(bus, name);
  try {
    await own.publish(CAPACITY_SUBJECT, payload);
  } finally {
    await own.close();
  }
}

function isText(value: unknown, shortest: number, longest: number): boolean {
  return typeof value === "string" && value.length >= shortest && value.length <= longest;
}

function need(isRight: boolean, option: string, rule: string, value: unknown): void {
  if (!isRight) throw new InvalidConfigError(option, rule, value);
}
