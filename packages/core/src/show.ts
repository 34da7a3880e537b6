const LONGEST = 80;

/** Formats a value for an error message: quoted, short, and without calling any method of the value. */
export function show(value: unknown): string {
  switch (typeof value) {
    case "string":
      return value.length <= LONGEST
        ? JSON.stringify(value)
        : `${JSON.stringify(value.slice(0, LONGEST))}… (${value.length} characters)`;
    case "number":
    case "boolean":
    case "undefined":
      return String(value);
    case "bigint":
      return `${value}n`;
    case "symbol":
      return value.toString();
    case "function":
      return "a function";
    default:
      return value === null ? "null" : Array.isArray(value) ? "an array" : "an object";
  }
}
