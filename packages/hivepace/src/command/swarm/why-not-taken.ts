import type { ObservedResource } from "@hivepace/distributed";
import { clean } from "../text/clean.ts";
import { showDuration } from "../text/duration.ts";
import { amount } from "../text/numbers.ts";

/** Why agents did not take an announced capacity, as far as it can be told from what was heard before. */
export function whyNotTaken(
  resource: string,
  newCapacity: number,
  before: ObservedResource | undefined,
  isAnyone: boolean,
): string {
  const name = clean(resource);
  if (!isAnyone) return "announced, but nobody was heard: hivepace doctor looks why";
  const total = before?.limits.find((limit) => limit.total < Infinity)?.total;
  if (before === undefined || total === undefined)
    return `announced, but no agent took it: none of them has said a word of ${name}. Do they have it?`;
  if (newCapacity >= total)
    return `ignored: ${amount(newCapacity)} is no less than the ${amount(total)} that all may use of ${name} now`;
  const { cause, level, windowMs } = before;
  if (cause && level < 1 && cause.agoMs < windowMs) {
    const last = `${clean(cause.agentId)} cut it ${showDuration(cause.agoMs)} ago: ${clean(cause.reason)}`;
    return `ignored: it follows the last cut too closely. ${last}`;
  }
  return `announced, but no agent took it: do they sign with a secret that HIVEPACE_SECRET does not have?`;
}
