import type { DiagnosticEvents } from "@hivepace/core";
import type { Attributes } from "@opentelemetry/api";

/** The metric or span that attributes belong to. */
export interface About {
  /** The name of a metric or of a span. */
  readonly name: string;
  /** The diagnostic event; undefined for a metric that is observed from a status. */
  readonly event?: DiagnosticEvents[keyof DiagnosticEvents] | undefined;
}

/** Adds or removes attributes. Added attributes should have few values, because each value creates a time series. */
export type AttributeHook = (attributes: Attributes, about: About) => Attributes;

/** Returns the attributes without undefined values. */
export function present(attributes: Attributes): Attributes {
  const kept: Attributes = {};
  for (const [name, value] of Object.entries(attributes)) if (value !== undefined) kept[name] = value;
  return kept;
}

/** Returns a short name of an error: its code, else its class. Undefined without an error. */
export function errorType(error: unknown): string | undefined {
  if (error === undefined) return undefined;
  const { code, name } = (error ?? {}) as { code?: unknown; name?: unknown };
  for (const word of [code, name]) if (typeof word === "string" && word !== "") return word;
  return "_OTHER";
}

/** Converts a name such as "inputTokens" to the snake case of OpenTelemetry. */
export function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`).replace(/-/g, "_");
}
