import { bindingLimit, byPressure } from "../../pressure.ts";
import type { Frame, Hello, LoggedEvent, Point, ResourceFrame, Update } from "../../wire.ts";

/** The complete state of the page. */
export interface State {
  readonly hello: Omit<Hello, "update">;
  readonly frame: Frame;
  readonly points: readonly Point[];
  readonly events: readonly LoggedEvent[];
}

export function begin({ update, ...hello }: Hello): State {
  return { hello, ...update };
}

/** Returns the state with the update applied, bounded to the history that the server keeps. */
export function next({ hello, points, events }: State, update: Update): State {
  return {
    hello,
    frame: update.frame,
    points: [...points, ...update.points].slice(-hello.maxPoints),
    events: [...events, ...update.events].slice(-2 * hello.maxEvents),
  };
}

/** The user's selection. */
export interface Choice {
  /** Undefined: the worst resource. */
  readonly resource: string | undefined;
  /** Whether `resource` is a tenant key. */
  readonly isKey: boolean;
  /** Undefined: the binding limit. */
  readonly limit: number | undefined;
  readonly agentId: string | undefined;
}

/** Returns the selected resource, or else the worst one; undefined when none is known. */
export function chosenResource(
  { resources, keys }: Pick<Frame, "resources" | "keys">,
  { resource, isKey }: Pick<Choice, "resource" | "isKey">,
): ResourceFrame | undefined {
  return (isKey ? keys : resources).find((one) => one.resource === resource) ?? [...resources].sort(byPressure)[0];
}

/** Returns the index of the selected limit, or else of the binding one. */
export function chosenLimit(resource: ResourceFrame | undefined, { limit }: Choice): number {
  const limits = resource?.limits ?? [];
  if (limit !== undefined && limit < limits.length) return limit;
  return bindingLimit(limits);
}
