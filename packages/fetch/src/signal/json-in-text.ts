import { isRecord } from "../untyped.ts";

/** A JSON document inside of a text, and the words around it. */
export interface JsonInText {
  readonly value: unknown;
  readonly around: string;
}

/** Returns the JSON document that a text quotes, with or without words around it. */
export function jsonInText(text: string): JsonInText | undefined {
  const end = Math.max(text.lastIndexOf("}"), text.lastIndexOf("]")) + 1;
  for (const found of [text.search(/[[{]/), text.indexOf("{")]) {
    const start = Math.max(0, found);
    if (start >= end) continue;
    try {
      const value: unknown = JSON.parse(text.slice(start, end));
      if (isRecord(value) || (Array.isArray(value) && isRecord(value[0])))
        return { value, around: `${text.slice(0, start)} ${text.slice(end)}`.trim() };
    } catch {
      // The brackets do not enclose JSON.
    }
  }
  return undefined;
}
