import { need } from "@hivepace/core/internal";
import { above, whole } from "./option-rules.ts";
import type { Limits } from "./options.ts";

export function checkLimits(option: string, limits: Limits): void {
  const { requests, tokens, windowMs, maxInFlightPerProcess } = limits;
  need(requests !== undefined || tokens !== undefined, option, "one of requests and tokens at least", limits);
  for (const [name, limit] of Object.entries({ requests, tokens, windowMs }))
    if (limit !== undefined) above(`${option}.${name}`, limit);
  if (maxInFlightPerProcess !== undefined) whole(`${option}.maxInFlightPerProcess`, maxInFlightPerProcess);
}
