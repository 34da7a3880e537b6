import type { DiagnosticEvents } from "@hivepace/core";
import type { Attributes } from "@opentelemetry/api";

/** What attributes are for. */
export interface About {
  /** The name of a metric or of a span. */
  readonly name: string;
  /** What happened; of a metric that is read from a status there is none. */
  readonly event?: DiagnosticEvents[keyof DiagnosticEvents] | undefined;
}

/** Adds attributes, or leaves some out. What it adds should have few values: each makes a series of its own. */
export type AttributeHook = (attributes: Attributes, about: About) => Attributes;

/** Without those that have no value. */
export function present(attributes: Attributes): Attributes {
  const kept: Attributes = {};
  for (const [name, value] of Object.entries(attributes)) if (value !== undefined) kept[name] = value;
  return kept;
}

/** What kind of error, in few words: our codes, then the class. Undefined when there was none. */
export function errorType(error: unknown): string | undefined {
  if (error === undefined) return undefined;
  const { code, name } = (error ?? {}) as { code?: unknown; name?: unknown };
  for (const word of [code, name]) if (typeof word === "string" && word !== "") return word;
  return "_OTHER";
}

/** "inputTokens" and the like as OpenTelemetry writes names. */
export function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`).replace(/-/g, "_");
}
