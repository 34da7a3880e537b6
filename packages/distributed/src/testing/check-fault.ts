import { need } from "@hivepace/core/internal";
import { checkLimits } from "./check-limits.ts";
import { ONLY_ENDPOINT } from "./endpoints.ts";
import { ABOVE, amount, checkAgents, oneOf, part, range } from "./option-rules.ts";
import type { Fault, Limits, NetworkOptions, SimulationOptions } from "./options.ts";

export function checkFault(
  option: string,
  fault: Fault,
  { agents, limits, store, endpoints }: SimulationOptions,
): void {
  amount(`${option}.at`, fault.at);
  if ("agents" in fault && fault.agents) checkAgents(`${option}.agents`, fault.agents, agents);
  if ("forMs" in fault) need(fault.forMs > 0 || fault.type === "store-failover", `${option}.forMs`, ABOVE, fault.forMs);
  switch (fault.type) {
    case "crash":
    case "leave":
    case "join":
    case "cut":
    case "deafen":
    case "mute":
    case "freeze":
    case "bus-down":
    case "inject":
      break;
    case "restart":
      amount(`${option}.downMs`, fault.downMs);
      break;
    case "split":
      fault.groups.forEach((group, i) => {
        checkAgents(`${option}.groups[${i}]`, group, agents);
      });
      break;
    case "network":
      checkNetwork(`${option}.network`, fault.network);
      break;
    case "provider": {
      amount(`${option}.factor`, fault.factor);
      const ids = endpoints?.map(({ id }) => id) ?? [ONLY_ENDPOINT];
      fault.endpoints?.forEach((id, i) => {
        oneOf(`${option}.endpoints[${i}]`, id, ids);
      });
      break;
    }
    case "refuse":
      if (fault.retryAfterMs !== undefined) amount(`${option}.retryAfterMs`, fault.retryAfterMs);
      break;
    case "limits":
      checkLimits(`${option}.limits`, fault.limits);
      need(
        kindsOf(fault.limits) === kindsOf(limits),
        `${option}.limits`,
        "limits of the same things as at first",
        fault.limits,
      );
      break;
    case "store-down":
    case "store-stall":
    case "store-flush":
    case "store-errors":
    case "store-failover":
      need(store !== undefined, `${option}.type`, "one that needs no store, where there is none", fault.type);
      if (fault.type === "store-errors") part(`${option}.part`, fault.part);
      if (fault.type === "store-failover") amount(`${option}.staleMs`, fault.staleMs);
      break;
    default:
      need(false, `${option}.type`, "the name of a fault", (fault as { type: unknown }).type);
  }
}

export function checkNetwork(option: string, { delayMs, slowMs, ...parts }: Partial<NetworkOptions>): void {
  for (const [name, value] of Object.entries(parts)) if (value !== undefined) part(`${option}.${name}`, value);
  if (delayMs) range(`${option}.delayMs`, delayMs);
  if (slowMs) range(`${option}.slowMs`, slowMs);
}

function kindsOf({ requests, tokens }: Limits): string {
  return `${requests !== undefined} ${tokens !== undefined}`;
}
