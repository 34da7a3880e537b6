import { type MemoryBroker, memoryBus, namespacedBus } from "@hivepace/bus";
import type { ManualClock } from "@hivepace/core/testing";
import type { Message } from "../../../src/engine/index.ts";
import { decodeCapacity } from "../../../src/wire/capacity.ts";
import { decodePresence } from "../../../src/wire/presence.ts";
import { CAPACITY_SUBJECT, PRESENCE_SUBJECT } from "../../../src/wire/subjects.ts";
import type { Late } from "./promises.ts";
import { need, Violation } from "./violation.ts";

export const NAMESPACE = "fuzz";

/** Reasons for which an agent may ignore a message of an honest peer. */
const EXPECTED = new Set([
  "stale",
  "left",
  "replayed",
  "unknown resource",
  "other limits",
  "impossible claim",
  // Unsigned messages may only lower a level: each agent ends a recovery because of answers to its own calls.
  "raised level",
  // Accepted once the message is repeated, as the law of agreement shows.
  "epoch far ahead",
]);

/**
 * Decodes every message that agents publish, independently of its receivers, and passes reports to `check`. Returns a
 * function that stops decoding.
 */
export async function decodeAll(
  broker: MemoryBroker,
  clock: ManualClock,
  late: Late,
  check: (message: Message) => void,
): Promise<() => Promise<void>> {
  const bus = await memoryBus(broker, { clock });
  const own = namespacedBus(bus, NAMESPACE);
  const decoded = <T>(decode: (payload: Uint8Array) => T, checkDecoded: (message: T) => void) => {
    return (payload: Uint8Array) => {
      let message: T;
      try {
        message = decode(payload);
      } catch (error) {
        const text = new TextDecoder().decode(payload);
        late.add(new Violation("messages", `${String(error)} in the message ${text}`));
        return;
      }
      late.guard(() => checkDecoded(message));
    };
  };
  await own.subscribe(PRESENCE_SUBJECT, decoded(decodePresence, check));
  await own.subscribe(
    CAPACITY_SUBJECT,
    decoded(decodeCapacity, () => {}),
  );
  return async () => {
    await own.close();
    await bus.close();
  };
}

/** Throws if an agent ignored an honest peer's message for any other reason. */
export function checkIgnored(agentId: string, ignored: Readonly<Record<string, number>>): void {
  const bad = Object.keys(ignored).find((reason) => !EXPECTED.has(reason));
  need(bad === undefined, "messages", () => `${agentId} ignored a message of a peer: ${bad}`);
}
