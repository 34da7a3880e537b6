import { closingLaws } from "./closing-laws.ts";
import { deliveryLaws } from "./delivery-laws.ts";
import { messageLaws } from "./message-laws.ts";
import { outageLaws } from "./outage-laws.ts";
import { type BusSuiteOptions, inWorld, PATIENCE_MS } from "./world.ts";

/** How long the runner should give one law: several waits, each as long as it may take. */
const LAW_TIMEOUT_MS = 4 * PATIENCE_MS;

/**
 * Every law of a message bus, each a test of its own: run it for every bus that you write.
 *
 * - `delivery-laws.ts`: who hears what, in which order, from when to when
 * - `message-laws.ts`: subjects, payloads, handlers
 * - `closing-laws.ts`: opening, closing, and what is under way meanwhile
 * - `outage-laws.ts`: the broker is killed and comes back (with `restart`)
 *
 * What a bus does not promise in `supports` is not asked of it.
 */
export function busSuite({ test, open, restart }: BusSuiteOptions): void {
  const laws = [...deliveryLaws, ...messageLaws, ...closingLaws, ...(restart ? outageLaws(restart) : [])];
  for (const [name, body] of laws) test(name, () => inWorld(open, body), LAW_TIMEOUT_MS);
}
