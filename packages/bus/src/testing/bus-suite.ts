import { closingLaws } from "./closing-laws.ts";
import { deliveryLaws } from "./delivery-laws.ts";
import { messageLaws } from "./message-laws.ts";
import { outageLaws } from "./outage-laws.ts";
import { type BusSuiteOptions, inWorld, PATIENCE_MS } from "./world.ts";

/** Timeout of one law for the test runner: a law waits several times, each time up to `PATIENCE_MS`. */
const LAW_TIMEOUT_MS = 4 * PATIENCE_MS;

/**
 * Registers one test for each law of a message bus. Run the suite for every bus that you write.
 *
 * - `delivery-laws.ts`: receivers, order, and the lifetime of subscriptions
 * - `message-laws.ts`: subjects, payloads, handlers
 * - `closing-laws.ts`: opening, closing, and calls in flight during a close
 * - `outage-laws.ts`: the broker is killed and restarted (needs `restart`)
 *
 * A law that `supports` excludes is not checked.
 *
 * @example
 * ```ts
 * import { memoryBroker, memoryBus } from "@hivepace/bus";
 * import { busSuite } from "@hivepace/bus/testing";
 * import { describe, test } from "vitest";
 *
 * const broker = memoryBroker();
 * describe("my bus", () => busSuite({ test, open: () => memoryBus(broker) }));
 * ```
 */
export function busSuite({ test, open, restart }: BusSuiteOptions): void {
  const laws = [...deliveryLaws, ...messageLaws, ...closingLaws, ...(restart ? outageLaws(restart) : [])];
  for (const [name, body] of laws) test(name, () => inWorld(open, body), LAW_TIMEOUT_MS);
}
