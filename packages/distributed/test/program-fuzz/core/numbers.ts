import { Violation } from "./violation.ts";

/** Names of fields that change as time passes, or that count messages. */
const VOLATILE = /^(published|publishedBytes|ignored|text|timestamp|remainingMs|available|.*(AgeMs|AgoMs|InMs|ForMs))$/;

/** Throws when a number anywhere in the value is NaN or negative. */
export function checkNumbers(value: unknown, path: string): void {
  if (typeof value === "number") {
    if (Number.isNaN(value)) throw new Violation("numbers", `${path} is NaN`);
    if (value < 0) throw new Violation("numbers", `${path} is ${value}`);
    return;
  }
  if (typeof value !== "object" || value === null) return;
  for (const [name, inner] of Object.entries(value)) checkNumbers(inner, `${path}.${name}`);
}

/**
 * A status as text, without the fields that change by themselves: two texts are equal when nothing happened in between.
 */
export function stable(status: unknown): string {
  return JSON.stringify(status, (name, value: unknown) => {
    if (VOLATILE.test(name)) return undefined;
    return typeof value === "number" && !Number.isFinite(value) ? String(value) : value;
  });
}
