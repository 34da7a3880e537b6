import type { Command } from "./program.ts";
import type { Owner, State } from "./state.ts";

/** Parks or unparks an endpoint or one of its models. */
export function park(
  { parkedUntil, clock }: State,
  { hive, endpoints }: Owner,
  command: Extract<Command, { do: "park" | "unpark" }>,
): void {
  const { endpoint, model } = command;
  if (!endpoints.some(({ id }) => id === endpoint)) return;
  if (command.do === "unpark") {
    hive.unpark(endpoint, model === undefined ? {} : { model });
    for (const name of parkedUntil.keys())
      if (model === undefined ? name.startsWith(`${endpoint}\0`) : name === parkName(endpoint, model))
        parkedUntil.delete(name);
    return;
  }
  const { forMs } = command;
  hive.park(endpoint, { model, forMs, reason: "the program parks it" });
  parkedUntil.set(parkName(endpoint, model), clock.now() + (forMs ?? Infinity));
}

/** Whether an operator has parked the endpoint, or the model, of a call. */
export function isParked({ parkedUntil, clock }: State, endpoint: string, model: string | undefined): boolean {
  return [parkName(endpoint, undefined), parkName(endpoint, model)].some(
    (name) => (parkedUntil.get(name) ?? -Infinity) > clock.now(),
  );
}

function parkName(endpoint: string, model: string | undefined): string {
  return `${endpoint}\0${model ?? ""}`;
}
