import type { SwarmEvent } from "@hivepace/distributed";
import { clean } from "../text/clean.ts";
import { showDuration } from "../text/duration.ts";
import { amount, isUnlimited } from "../text/numbers.ts";

/** An event in the columns of a line: action, resource, agent, reason. */
interface Described {
  readonly what: string;
  readonly resource: string;
  readonly who: string;
  readonly why: string;
}

function describeEvent(event: SwarmEvent): Described {
  switch (event.type) {
    case "joined":
    case "silent":
    case "back":
    case "left":
      return { what: event.type, resource: "", who: clean(event.agentId), why: "" };
    case "cut":
      return {
        what: `cut to ${capacity(event)}`,
        resource: clean(event.resource),
        who: clean(event.agentId),
        why: clean(event.reason),
      };
    case "paused":
      return {
        what: `pause of ${showDuration(event.pausedForMs)}`,
        resource: clean(event.resource),
        who: clean(event.agentId),
        why: clean(event.reason),
      };
    case "availability": {
      const { resource, model, state, agentId, reason, retryAfterMs } = event;
      const until = retryAfterMs ? ` for ${showDuration(retryAfterMs)}` : "";
      return {
        what: `${state}${until}`,
        resource: clean(model === undefined ? resource : `${resource}/${model}`),
        who: clean(agentId),
        why: clean(reason),
      };
    }
    case "raised":
      return {
        what: `raised to ${capacity(event)}`,
        resource: clean(event.resource),
        who: "",
        why: event.level >= 1 ? "recovered" : "recovery",
      };
    case "announced": {
      const { resource, agentId, newCapacity, reason } = event.update;
      const what = `announced ${amount(newCapacity)}`;
      return { what, resource: clean(resource), who: clean(agentId), why: clean(reason) };
    }
    case "bus":
      return { what: `bus ${event.state}`, resource: "", who: "", why: "" };
  }
}

/** Returns the new capacity with the level, or the level alone when the resource has no limit. */
function capacity({ newCapacity, level }: { readonly newCapacity: number; readonly level: number }): string {
  const part = `${Math.round(level * 100)} %`;
  return isUnlimited(newCapacity) ? part : `${amount(newCapacity)} (${part})`;
}

/** Formats an event as one line: `12:00:01.250  cut to 500 (50 %)  eu  agent-3  429 from the provider`. */
export function eventLine(event: SwarmEvent, at: Date): string {
  const { what, resource, who, why } = describeEvent(event);
  const time = at.toISOString().slice(11, 23);
  return [time, what.padEnd(22), resource.padEnd(16), who.padEnd(20), why].join("  ").trimEnd();
}
