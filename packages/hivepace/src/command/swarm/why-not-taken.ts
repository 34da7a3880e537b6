import type { ObservedResource } from "@hivepace/distributed";
import { clean } from "../text/clean.ts";
import { showDuration } from "../text/duration.ts";
import { amount } from "../text/numbers.ts";

/** Explains why agents did not apply an announced capacity, as far as earlier messages allow. */
export function whyNotTaken(
  resource: string,
  newCapacity: number,
  before: ObservedResource | undefined,
  isAnyone: boolean,
): string {
  const name = clean(resource);
  if (!isAnyone) return "announced, but no agent was heard: hivepace doctor finds out why";
  const total = before?.limits.find((limit) => limit.total < Infinity)?.total;
  if (before === undefined || total === undefined)
    return `announced, but no agent applied it: no agent reports ${name}. Check that it is configured`;
  if (newCapacity >= total)
    return `ignored: ${amount(newCapacity)} is not below the ${amount(total)} that all agents may use of ${name} now`;
  const { cause, level, windowMs } = before;
  if (cause && level < 1 && cause.agoMs < windowMs) {
    const last = `${clean(cause.agentId)} cut it ${showDuration(cause.agoMs)} ago: ${clean(cause.reason)}`;
    return `ignored: the announcement follows the last cut too closely. ${last}`;
  }
  return `announced, but no agent applied it: check that HIVEPACE_SECRET has the secret of the agents`;
}
