import type { Frame, Hello, LoggedEvent, Point, ResourceFrame, Update } from "../../wire.ts";

/** All that the page knows. */
export interface State {
  readonly hello: Omit<Hello, "update">;
  readonly frame: Frame;
  readonly points: readonly Point[];
  readonly events: readonly LoggedEvent[];
}

export function begin({ update, ...hello }: Hello): State {
  return { hello, ...update };
}

/** What was known and what is new; no more of the past than the server keeps. */
export function next({ hello, points, events }: State, update: Update): State {
  return {
    hello,
    frame: update.frame,
    points: [...points, ...update.points].slice(-hello.maxPoints),
    events: [...events, ...update.events].slice(-2 * hello.maxEvents),
  };
}

/** What the reader has chosen to see. */
export interface Choice {
  readonly resource: string | undefined;
  /** Undefined: the first that there is. */
  readonly limit: number | undefined;
  readonly agentId: string | undefined;
}

/** The resource that was chosen, or else the first; undefined when none was heard. */
export function chosenResource({ resources }: Frame, { resource }: Choice): ResourceFrame | undefined {
  return resources.find((one) => one.resource === resource) ?? resources[0];
}

/** Which of its limits: the chosen one, or else the first that is not without end. */
export function chosenLimit(resource: ResourceFrame | undefined, { limit }: Choice): number {
  const limits = resource?.limits ?? [];
  if (limit !== undefined && limit < limits.length) return limit;
  return Math.max(
    0,
    limits.findIndex((one) => one.limit !== null),
  );
}
