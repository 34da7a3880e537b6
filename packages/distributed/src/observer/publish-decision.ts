import { namespacedBus } from "@hivepace/bus";
import { InvalidConfigError, systemClock } from "@hivepace/core";
import { checkKnown, type OptionNames } from "@hivepace/core/internal";
import { resolveNamespace } from "@hivepace/namespace";
import { swarmIdOf } from "../limiter/bus-link.ts";
import { checkedSwarmId, secretsOf } from "../limiter/config.ts";
import { SwarmClock } from "../limiter/swarm-clock.ts";
import { Seal } from "../wire/seal.ts";
import { CAPACITY_SUBJECT } from "../wire/subjects.ts";
import type { AnnounceOptions } from "./announce-capacity.ts";

const OPTIONS = {
  bus: true,
  namespace: true,
  secret: true,
  swarmId: true,
  clock: true,
} as const satisfies OptionNames<AnnounceOptions>;

/**
 * Publishes an operator's decision to all agents, signed as their own messages are. Resolves when the broker has it.
 *
 * @throws INVALID_CONFIG for options that break their rules, or the error of the bus
 */
export async function publishDecision(message: Uint8Array, options: AnnounceOptions): Promise<void> {
  checkKnown(options, OPTIONS);
  const { bus, namespace, secret, swarmId, clock = systemClock } = options;
  if (typeof bus?.publish !== "function") throw new InvalidConfigError("bus", "a MessageBus", bus);
  const name = namespace === "" ? "" : resolveNamespace({ namespace }).namespace;
  const bound = { swarmId: swarmIdOf(checkedSwarmId(swarmId), bus), namespace: name };
  const seal = new Seal(secretsOf(secret), bound, new SwarmClock(clock, () => Infinity));
  const payload = seal.close(CAPACITY_SUBJECT, message);
  if (name === "") return bus.publish(CAPACITY_SUBJECT, payload);
  const own = namespacedBus(bus, name);
  try {
    await own.publish(CAPACITY_SUBJECT, payload);
  } finally {
    await own.close();
  }
}
